"""From verdicts to rewards: mutation, coverage, judges, twins and the reward formulas."""
