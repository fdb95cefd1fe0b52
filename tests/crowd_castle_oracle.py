"""CASTLE in plain Python: clusters are lists of events, every box is made anew."""

from __future__ import annotations

from crowd_flow_oracles import Before, PlainFads, counted
from crowd_streams import loss_of

from mechanisms.crowds.flow import Emitted, FlowForm
from mechanisms.crowds.waiting import Arrival

Cluster = list[Arrival]


class PlainCastle(PlainFads):
    """The rules of castle.md, word for word."""

    def __init__(self, form: FlowForm, clusters: int = 50, recent: int = 100, kept: int = 128) -> None:
        super().__init__(form)
        self.clusters: list[Cluster] = []  # oldest first
        self.losses: list[float] = []
        self.most, self.recent, self.kept = clusters, recent, kept

    @property
    def tau(self) -> float:
        last = self.losses[-self.recent :]
        return sum(last) / len(last) if last else 0.0

    def loss(self, events: Cluster) -> float:
        return loss_of(self.form.attributes, self.box_of(events))

    def arrived(self, one: Arrival) -> list[Emitted]:
        grown = [
            (self.loss([*each, one]) - self.loss(each), self.loss([*each, one]) > self.tau, users(each), place)
            for place, each in enumerate(self.clusters)
        ]
        best = min(grown, default=None)
        if best is not None and (not best[1] or len(self.clusters) == self.most):
            self.clusters[best[3]].append(one)
        else:
            self.clusters.append([one])
        return []

    def leave(self, one: Arrival) -> list[Emitted]:
        k = self.form.rule.k
        crowd = next(each for each in self.clusters if one in each)
        if not self.allowed(crowd):
            better = self.covering(one, 2.0)
            if better is not None:
                self.out([one])
                return [self.again(one, better)]
            if users(self.there) < k:
                return [self.nothing(one, "too_few")]
            others = [each for each in self.clusters if each is not crowd]
            while not self.allowed(crowd):
                if not others:
                    return [self.nothing(one, "not_diverse")]
                nearest = min(others, key=lambda each: self.loss(crowd + each))
                others = [each for each in others if each is not nearest]
                crowd = crowd + nearest
        found = []
        for group in self.mended(self.divided(sorted(crowd))):
            if self.loss(group) > self.form.rule.loss_most:
                if one in group:
                    found.append(self.nothing(one, "loss"))
                continue
            found.append(self.let_out(group))
        return found

    def covering(self, one: Arrival, below: float) -> Before | None:
        self.newest, newest = -1, self.newest  # boxes do not grow old here
        found = super().covering(one, below)
        self.newest = newest
        return found

    def let_out(self, group: Cluster) -> Emitted:
        box, loss = self.box_of(group), self.loss(group)
        self.out(group)
        self.losses.append(loss)
        if loss >= self.tau:
            for each in group:
                self.there.remove(each)
            return Emitted(tuple(sorted(each.seq for each in group)), users(group), box, loss, False, None)
        found = self.together(group, box)
        self.before = self.before[-self.kept :]
        return found

    def nothing(self, one: Arrival, reason: str) -> Emitted:
        self.out([one])
        self.there.remove(one)
        return Emitted((one.seq,), 1, None, 1.0, False, reason)  # type: ignore[arg-type]

    def out(self, gone: Cluster) -> None:
        left = [[one for one in each if one not in gone] for each in self.clusters]
        self.clusters = [each for each in left if each]

    def allowed(self, crowd: Cluster) -> bool:
        return users(crowd) >= self.form.rule.k and self.law.mixed(counted(crowd))

    def divided(self, crowd: Cluster) -> list[Cluster]:
        k = self.form.rule.k
        if users(crowd) < 2 * k:
            return [crowd]
        groups = []
        left = crowd
        while users(left) >= k:
            seed = max(left, key=lambda one: self.gap(left[0], one))
            group: Cluster = []
            for one in sorted(left, key=lambda one: self.gap(seed, one)):
                if len(group) < k and one.user not in {each.user for each in group}:
                    group.append(one)
            groups.append(group)
            left = [one for one in left if one not in group]
        for one in left:
            grown = [self.loss([*each, one]) - self.loss(each) for each in groups]
            groups[grown.index(min(grown))].append(one)
        return groups

    def mended(self, groups: list[Cluster]) -> list[Cluster]:
        place = 0
        while place < len(groups):
            if self.allowed(groups[place]):
                place += 1
                continue
            others = [each for at, each in enumerate(groups) if at != place]
            nearest = min(others, key=lambda each: self.loss(groups[place] + each))
            groups[place] = groups[place] + nearest
            at = next(at for at, each in enumerate(groups) if each is nearest)
            del groups[at]
            place -= at < place
        return groups


def users(events: Cluster) -> int:
    return len({each.user for each in events})
