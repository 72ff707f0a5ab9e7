"""The accessibility rules that a story breaks, and how many are new or fixed."""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

COUNTS = ("violations", "new_violations", "fixed_violations")


def upgrade() -> None:
    """Add the columns; of snapshots of before nothing is known."""
    op.execute("ALTER TABLE snapshots ADD COLUMN accessibility jsonb")
    for name in COUNTS:
        op.execute(f"ALTER TABLE snapshots ADD COLUMN {name} integer")


def downgrade() -> None:
    """Take them away."""
    for name in (*COUNTS, "accessibility"):
        op.execute(f"ALTER TABLE snapshots DROP COLUMN {name}")
