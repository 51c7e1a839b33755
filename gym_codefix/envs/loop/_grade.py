"""What a submitted state is worth."""

from __future__ import annotations

from dataclasses import replace

from gym_codefix.chat import Chat
from gym_codefix.grading.build import BUILD_STAGES
from gym_codefix.grading.judge import Opinion, ask_opinion
from gym_codefix.grading.repair import REWARDS, Grade, Infrastructure, grade
from gym_codefix.runtime import PrepareError, Start, StoreError

from ._session import Session

# Of an answer that is a set of versions: the stage reached, and the share of tests that pass.
_STAGE_WEIGHT, _TESTS_WEIGHT = 0.4, 0.5


def grade_state(session: Session, reward: str) -> Grade:
    """Grade what a session has built, hidden tests included, in a fresh process.

    Source edits are graded as those of CodeRepair-Simple are. Versions are resolved and installed
    again, and everything must pass that passes under the release's own lock: nothing that the
    agent wrote runs then. Raises ValueError for an unknown reward.
    """
    if reward not in REWARDS:
        raise ValueError(f"unknown reward {reward!r}; valid: {', '.join(REWARDS)}")
    bench = session.bench
    if bench.problem is not None:
        return grade(bench.problem, session.edits, bench.runtime, reward=reward)
    return _grade_versions(session, reward)


def second_opinion(session: Session, graded: Grade, chat: Chat) -> tuple[Grade, Opinion | None]:
    """What a model says of a repair that is otherwise resolved, and the grade after that.

    Its opinion can only take the reward away. None, and the grade as it was, where there is
    nothing to ask: not resolved, or only versions were changed.
    """
    if not (graded.resolved and session.edits):
        return graded, None
    before = {path: session.bench.read(path) or "" for path in session.edits}
    opinion = ask_opinion(chat, before, session.edits)
    if opinion.lost:
        why = "the second judge finds that something was lost"
        graded = replace(graded, reward=0.0, resolved=False, explanation=why)
    return graded, opinion


def _grade_versions(session: Session, reward: str) -> Grade:
    bench = session.bench
    parts = dict.fromkeys(("stage", "passing"), 0.0)
    try:
        build = bench.builder(everything=True).build(
            {}, session.constraints, bench.floors, start=Start.FRESH
        )
    except (Infrastructure, PrepareError, StoreError) as error:
        return Grade(
            reward=0.0,
            resolved=False,
            tests_pass=False,
            parts=parts,
            reward_valid=False,
            failure_reason=str(error),
            explanation="the grader failed",
        )
    reached = BUILD_STAGES.index(build.stage) if build.stage else len(BUILD_STAGES)
    parts["stage"] = reached / len(BUILD_STAGES)
    parts["passing"] = len(build.passed) / len(bench.wanted)
    shaped = _STAGE_WEIGHT * parts["stage"] + _TESTS_WEIGHT * parts["passing"]
    explanation = ""
    if build.stage is not None:
        explanation = f"the build fails at the stage {build.stage}"
        if build.stage == "test":
            explanation += f": {len(bench.wanted) - len(build.passed)} tests do not pass"
    return Grade(
        reward=1.0 if build.green else round(shaped, 6) if reward == "shaped" else 0.0,
        resolved=build.green,
        tests_pass=build.green,
        parts=parts,
        explanation=explanation,
        timing=build.seconds,
    )
