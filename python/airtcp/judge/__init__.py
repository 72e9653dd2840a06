"""One judgement: what a change of a scenario does to everyone's targets, found by experiment.

    outcome          a variant's targets, met or missed, and who else gains or loses
    candidates       the changes that people can make, and pairs of them
    race             which change is best, by sequential halving on common random numbers
    counterfactual   which experiment that only a simulator can make restores the targets
    recommend        the recommendation, the cause and the opportunities of a run

Verdicts, recommendations, capacity and comparisons rest on `outcome`. Results are identifiers and
numbers (`airtcp.results.advice`); their English is in `airtcp.messages`.
"""
