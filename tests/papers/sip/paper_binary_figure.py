"""Figure 5 drawn, and what it claims."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

from paper_binary import (
    CASES,
    STEP,
    TIMES,
    WINDOWS,
    chain_of_case,
    in_windows_exact,
    singly_exact,
    tops_error,
)
from paper_drawing import Line, Panel, draw
from paper_findings import ONLY_WHEN, Claim, Numbers, Section, verdict_of, where
from paper_releases import response_error

from mechanisms.sequence.published_batch_value import published_batch_value, published_window_value


def figure(folder: Path, epsilons: Sequence[float], users: int, tick: Callable[[float], None]) -> Section:
    found: dict[str, dict[str, list[float]]] = {}
    leaks: dict[str, list[float]] = {}
    for number, case in enumerate(CASES):
        for place, epsilon in enumerate(epsilons):
            for name, value in _errors(case, epsilon, users, leaks).items():
                found.setdefault(case, {}).setdefault(name, []).append(value)
            tick((number * len(epsilons) + place + 1) / (2 * len(epsilons)))
    tables = [
        Numbers(
            f"{case}: error rate",
            ["mechanism", *(f"eps {e:g}" for e in epsilons)],
            [[name, *values] for name, values in lines.items()],
        )
        for case, lines in found.items()
    ]
    tables += [_of_algorithm_2()]
    panels = [
        Panel(
            f"{case}: P1 = {CASES[case][0]:g}, a value stays with {CASES[case][1]:g}",
            "epsilon a value",
            "error rate",
            [Line(name, epsilons, values) for name, values in lines.items() if "one epsilon" not in name],
        )
        for case, lines in found.items()
    ]
    caption = (
        "Claims: instantaneous SIP lies between RR-LDP at epsilon and at 2 epsilon, beats the latter where data hang "
        "together, and longer windows are better. Windows have w epsilon each (SIP). The published CRR is not "
        "epsilon-SIP in case 2."
    )
    picture = draw(folder / "fig5.png", "Figure 5: errors of binary streams of ten values", panels, caption)
    return Section(
        "fig5",
        "Figure 5: binary streams",
        f"T = {TIMES}. Errors by enumeration of all releases; ToPS over {users:,} simulated users. A window of w "
        "values has w epsilon.",
        _claims(epsilons, found, leaks),
        tables,
        [picture],
    )


def _errors(case: str, epsilon: float, users: int, leaks: dict[str, list[float]]) -> dict[str, float]:
    chain = chain_of_case(case)
    published, leak = singly_exact("published_crr", chain, epsilon)
    leaks.setdefault(case, []).append(leak)
    errors = {
        "published CRR (claims SIP)": published,
        "optimal (SIP)": singly_exact("optimal", chain, epsilon)[0],
        "RR-LDP": response_error(epsilon, 2),
        "RR-LDP, 2 epsilon": response_error(2 * epsilon, 2),
        "ToPS (LDP)": tops_error(chain, epsilon, users),
    }
    for length in WINDOWS:
        whole = TIMES - TIMES % length  # whole windows only: nine values in windows of three
        errors[f"windows of {length} (SIP)"] = in_windows_exact(chain, length, length * epsilon, whole)
        errors[f"windows of {length}, one epsilon each"] = in_windows_exact(chain, length, epsilon, whole)
    return errors


def _of_algorithm_2() -> Numbers:
    rows: list[list[str | float | int]] = []
    for case in CASES:
        for length in (2, 3):
            chain = chain_of_case(case)
            for step in (STEP, 0.1):
                value = published_batch_value(chain, length, 1.0, step)
                rows.append(
                    [
                        f"{case}: Algorithm 2, w = {length}, step {step:g}",
                        1 - value.agreement,
                        value.upper,
                        value.rounds,
                    ]
                )
            rows.append([f"{case}: dual, w = {length}", in_windows_exact(chain, length, 1.0, length), 1.0, 0])
            value_of_response = published_window_value(chain, length, 1.0)
            rows.append(
                [f"{case}: window CRR, w = {length}", 1 - value_of_response.agreement, value_of_response.upper, 0]
            )
    return Numbers("one window at epsilon 1", ["mechanism", "error rate", "tells at most", "rounds"], rows)


def _claims(
    epsilons: Sequence[float], found: dict[str, dict[str, list[float]]], leaks: dict[str, list[float]]
) -> list[Claim]:
    claims = [_correlation()]
    for case, lines in found.items():
        claims += [_sandwich(case, epsilons, lines), _batches(case, epsilons, lines)]
    weak, strong = found["case 1"], found["case 2"]
    at = epsilons.index(1.0)
    kept = [o < r for o, r in zip(strong["optimal (SIP)"], strong["RR-LDP, 2 epsilon"], strict=True)]
    published = [p < r for p, r in zip(strong["published CRR (claims SIP)"], strong["RR-LDP, 2 epsilon"], strict=True)]
    claims.append(
        Claim(
            "fig5: strong correlation beats 2 epsilon-LDP",
            "As the dependence grows, instantaneous epsilon-SIP outperforms 2 epsilon-LDP.",
            verdict_of(kept),
            f"At epsilon 1 in case 2 the published CRR errs {strong['published CRR (claims SIP)'][at]:.4f} but "
            f"tells {leaks['case 2'][at]:.2f} nats; "
            f"the best that keeps the bound errs {strong['optimal (SIP)'][at]:.4f}, RR-LDP at 2 epsilon "
            f"{strong['RR-LDP, 2 epsilon'][at]:.4f}.",
            f"epsilon is small: kept bound, {where(list(zip(epsilons, kept, strict=True)))}; as published, "
            f"{where(list(zip(epsilons, published, strict=True)))}. "
            "What is gained beyond that is leaked: the rarer value's belief is below 1/(e^epsilon + 1).",
        )
    )
    gains = [(r - o) / r for lines in (weak, strong) for o, r in [(lines["optimal (SIP)"][at], lines["RR-LDP"][at])]]
    claims.append(
        Claim(
            "fig5: correlation helps SIP",
            "Where the correlation is strong, the advantages of SIP are even more obvious.",
            verdict_of([gains[1] > gains[0]]),
            f"At epsilon 1, `optimal` errs {gains[0]:.0%} less than epsilon-RR-LDP in case 1 and {gains[1]:.0%} "
            "less in case 2.",
            "a skewed belief is cheap to release.",
        )
    )
    claims.append(
        Claim(
            "fig5: CRR keeps epsilon",
            "The published mechanism is epsilon-SIP (Theorem 4).",
            verdict_of(leak <= e + 1e-9 for case in CASES for leak, e in zip(leaks[case], epsilons, strict=True)),
            "; ".join(f"{case} at epsilon 1: {leaks[case][at]:.2f} nats" for case in CASES),
            "every belief that may come up is at least 1/(e^epsilon + 1): "
            + "; ".join(
                f"{case} {where([(e, leak <= e + 1e-9) for e, leak in zip(epsilons, leaks[case], strict=True)])}"
                for case in CASES
            )
            + ".",
        )
    )
    return claims


def _correlation() -> Claim:
    _, stay = CASES["case 1"]
    return Claim(
        "fig5: what case 1 is",
        "In case 1 (P1 = .5, q00 = q11 = .5) the data are more correlated with each other.",
        verdict_of([not math.isclose(2 * stay - 1, 0.0)]),
        f"The correlation from one value to the next is q00 + q11 - 1 = {2 * stay - 1:g} in case 1, "
        f"{2 * CASES['case 2'][1] - 1:g} in case 2.",
        "values are independent; the figure's own caption calls the correlation weak.",
    )


def _sandwich(case: str, epsilons: Sequence[float], lines: dict[str, list[float]]) -> Claim:
    def between(name: str) -> list[bool]:
        triples = zip(lines["RR-LDP, 2 epsilon"], lines[name], lines["RR-LDP"], strict=True)
        return [low - 1e-9 <= middle <= high + 1e-9 for low, middle, high in triples]

    kept, published = between("optimal (SIP)"), between("published CRR (claims SIP)")
    verdict = verdict_of(kept)
    return Claim(
        f"fig5: sandwich, {case}",
        "At any epsilon instantaneous SIP lies between RR-LDP at epsilon and at 2 epsilon.",
        verdict,
        f"`optimal`: {where(list(zip(epsilons, kept, strict=True)))}; published CRR: "
        f"{where(list(zip(epsilons, published, strict=True)))}.",
        "epsilon is large enough: below, a skewed belief is released with fewer errors than either."
        if verdict == ONLY_WHEN
        else "with equal beliefs CRR is the optimum, e^-epsilon/2, between both responses.",
    )


def _batches(case: str, epsilons: Sequence[float], lines: dict[str, list[float]]) -> Claim:
    names = ["optimal (SIP)", *(f"windows of {length} (SIP)" for length in WINDOWS)]
    shared = [
        b <= a + 2e-3 * a for one, other in pairwise(names) for a, b in zip(lines[one], lines[other], strict=True)
    ]
    alone = ["optimal (SIP)", *(f"windows of {length}, one epsilon each" for length in WINDOWS)]
    each = [b <= a for one, other in pairwise(alone) for a, b in zip(lines[one], lines[other], strict=True)]
    at = epsilons.index(1.0)
    return Claim(
        f"fig5: batches, {case}",
        "Batched release always outperforms instantaneous release, and the more so the larger the batch.",
        ONLY_WHEN if all(shared) and not all(each) else verdict_of([*shared, *each]),
        "At epsilon 1: "
        + ", ".join(f"{lines[name][at]:.4f}" for name in names)
        + " for 1, 2, 3, 5 values with w epsilon a window; "
        + ", ".join(f"{lines[name][at]:.4f}" for name in alone[1:])
        + " for 2, 3, 5 with one epsilon a window.",
        "a window of w values is given w epsilon. Under one epsilon a window, longer windows err more: there is as "
        "much to tell for less.",
    )
