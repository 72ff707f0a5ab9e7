"""What of a picture is not compared: boxes that its author wants ignored."""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; of the pictures of before everything is compared."""
    op.execute("ALTER TABLE snapshots ADD COLUMN ignored jsonb DEFAULT '[]' NOT NULL")


def downgrade() -> None:
    """Take it away."""
    op.execute("ALTER TABLE snapshots DROP COLUMN ignored")
