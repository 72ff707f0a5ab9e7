"""What planning says of a build as a whole: an index of the future, files that do not load."""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; builds of before have nothing to say."""
    op.execute("ALTER TABLE builds ADD COLUMN warnings jsonb DEFAULT '[]' NOT NULL")


def downgrade() -> None:
    """Take it away."""
    op.execute("ALTER TABLE builds DROP COLUMN warnings")
