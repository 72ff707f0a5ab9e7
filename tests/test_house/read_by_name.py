"""Fields that only templates and JSON read, by their names: vulture takes this for a use of them.

`tests/ui/test_view_models.py` holds that each is a field still.
"""

from typing import Any

__all__ = ["read_by_name"]


def read_by_name(each: Any) -> tuple[Any, ...]:
    return (
        each.accept_command,
        each.alt,
        each.ancestor_link,
        each.baseline_link,
        each.baseline_number,
        each.branch_link,
        each.build_link,
        each.chips,
        each.commands,
        each.commit_short,
        each.created,
        each.gives,
        each.headline,
        each.inherited,
        each.is_chosen,
        each.is_compact,
        each.is_current,
        each.is_filtered,
        each.iso,
        each.live_link,
        each.mask_link,
        each.notes,
        each.overlay,
        each.pace,
        each.previous_link,
        each.project_link,
        each.project_name,
        each.refresh_s,
        each.removed,
        each.rest_words,
        each.size_changed,
        each.skipped,
        each.stage_height_px,
        each.stage_width_px,
        each.story_name,
        each.story_title,
        each.takes,
        each.timings,
        each.took,
        each.unchanged,
        each.unstable,
        each.variant,
    )
