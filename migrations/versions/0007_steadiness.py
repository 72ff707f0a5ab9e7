"""What is remembered of how still each story holds, from one build to the next."""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table; it fills as stories are captured."""
    op.execute(
        """
        CREATE TABLE steadiness (
            project_id bigint NOT NULL,
            story_id text NOT NULL,
            mode text NOT NULL,
            browser text NOT NULL,
            level text NOT NULL,
            captures integer NOT NULL,
            needed_more integer NOT NULL,
            unstable integer NOT NULL,
            flakiness double precision NOT NULL,
            seen_at timestamptz DEFAULT now() NOT NULL,
            CONSTRAINT fk_steadiness_project_id
                FOREIGN KEY (project_id) REFERENCES projects (id) ON DELETE CASCADE,
            CONSTRAINT pk_steadiness PRIMARY KEY (project_id, story_id, mode, browser),
            CONSTRAINT ck_steadiness_level
                CHECK (level IN ('first', 'pair', 'again', 'never'))
        )
        """
    )
    op.execute(
        """
        CREATE INDEX ix_steadiness_flakiness ON steadiness (project_id, flakiness)
        WHERE flakiness > 0
        """
    )


def downgrade() -> None:
    """Forget it."""
    op.execute("DROP TABLE steadiness")
