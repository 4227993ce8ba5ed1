import json

import pytest

from ontosub.model.errors import UsageError
from ontosub.pipeline.checkpoint import State
from ontosub.pipeline.staging import Outcome, Staging


class TestState:
    def test_goes_on_with_its_own(self, tmp_path):
        for _ in range(2):
            with State(tmp_path / "state", "a", "log here") as state:
                assert state.checkpoint.parent == tmp_path / "state"

    @pytest.mark.parametrize(("name", "source", "told"), [("b", "log here", "name"), ("a", "log there", "source")])
    def test_refuses_that_of_another_pipeline(self, tmp_path, name, source, told):
        with State(tmp_path, "a", "log here"):
            pass
        with pytest.raises(UsageError, match=f"state: .*another pipeline: its {told} is .*give another folder"):
            State(tmp_path, name, source).__enter__()

    def test_a_new_folder_never_repeats_a_number(self, tmp_path):
        now = 1_000.0
        with State(tmp_path / "a", "a", "s", lambda: now) as state:
            first = state.first_batch
        now = 1_001.5
        with State(tmp_path / "a", "a", "s", lambda: now) as state:
            assert state.first_batch == first
        with State(tmp_path / "b", "a", "s", lambda: now) as state:
            assert state.first_batch >= first + 1_000_000

    def test_refuses_one_that_is_in_use(self, tmp_path):
        with State(tmp_path, "a", "s"), pytest.raises(UsageError, match="in use"):
            State(tmp_path, "a", "s").__enter__()

    def test_refuses_checkpoints_that_are_not_ours(self, tmp_path):
        (tmp_path / "checkpoint").mkdir()
        with pytest.raises(UsageError, match="not one of Ontosub"):
            State(tmp_path, "a", "s").__enter__()

    def test_refuses_what_is_no_folder(self, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(UsageError, match="state"):
            State(tmp_path / "file", "a", "s").__enter__()

    def test_refuses_a_damaged_one(self, tmp_path):
        (tmp_path / "pipeline.json").write_text("{")
        with pytest.raises(UsageError, match=r"pipeline\.json: cannot be read"):
            State(tmp_path, "a", "s").__enter__()


class TestStaging:
    OUTCOME = Outcome(("m.parquet",), (), 3, 2, 0)

    def test_remembers_what_is_complete(self, tmp_path):
        staging = Staging(tmp_path)
        assert staging.outcome(7) is None
        staging.begin(7)
        assert staging.outcome(7) is None
        staging.complete(7, self.OUTCOME)
        assert Staging(tmp_path).outcome(7) == self.OUTCOME
        assert Staging(tmp_path).files(7, ["m.parquet"]) == (tmp_path / "7" / "m.parquet",)

    def test_a_batch_ends_those_before(self, tmp_path):
        staging = Staging(tmp_path)
        (staging.begin(7) / "m.parquet").write_text("")
        staging.complete(7, self.OUTCOME)
        folder = staging.begin(8)
        assert list(tmp_path.iterdir()) == [folder]
        assert staging.outcome(7) is None

    def test_what_a_crash_has_left_is_no_outcome(self, tmp_path):
        staging = Staging(tmp_path)
        (staging.begin(7) / "m.parquet").write_text("")
        (tmp_path / "7.partial").write_text(json.dumps({"matches_files": []})[:5])
        assert Staging(tmp_path).outcome(7) is None
        assert list(staging.begin(7).iterdir()) == []
