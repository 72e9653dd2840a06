"""Judge scenarios and their changes: which targets are met, what causes misses, and what helps.

    outcome          whether a variant meets its targets, and which groups gain or lose
    candidates       the changes that people can make, and pairs of them
    race             find the best change by sequential halving on common random numbers
    counterfactual   variants with one possible cause removed, which only a simulator can run
    causes           find the counterfactuals that restore the targets
    recommend        the recommendation, the cause and the opportunities of a run
    decide           choose the run length if the scenario file gives none
    targets          the targets of a scenario, or the defaults of its traffic
    verdicts         met, missed or inconclusive, by the intervals of a run
    growth           up to how many stations the targets are met, by quick simulations

Verdicts, recommendations, capacity and comparisons use `outcome`. Results are identifiers and
numbers (`airtcp.results.advice`). `airtcp.messages` has their English.
"""
