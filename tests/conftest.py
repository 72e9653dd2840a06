"""What all tests share: properties are not timed, for a busy machine proves nothing wrong."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
