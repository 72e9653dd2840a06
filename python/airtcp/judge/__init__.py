"""One judgement: what a change of a scenario does to everyone's targets, found by experiment.

    outcome          a variant's targets, met or missed, and who else gains or loses
    candidates       the changes that people can make, and pairs of them
    race             which change is best, by sequential halving on common random numbers
    counterfactual   experiments that only a simulator can make
    causes           which of them restore the targets
    recommend        the recommendation, the cause and the opportunities of a run
    decide           how long a scenario is run that does not say so
    targets          the targets of a scenario, or the defaults of its traffic
    verdicts         met, missed or inconclusive, by the intervals of a run
    growth           up to how many stations, by quick simulations

Verdicts, recommendations, capacity and comparisons rest on `outcome`. Results are identifiers and
numbers (`airtcp.results.advice`); their English is in `airtcp.messages`.
"""
