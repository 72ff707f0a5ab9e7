"""Stories whose picture depended on what was shown before them in the same page."""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table."""
    op.execute(
        """
        CREATE TABLE order_dependences (
            project_id bigint NOT NULL,
            story_id text NOT NULL,
            mode text NOT NULL,
            times integer NOT NULL,
            suspect text NOT NULL,
            left_behind text[] NOT NULL,
            seen_at timestamptz DEFAULT now() NOT NULL,
            CONSTRAINT pk_order_dependences PRIMARY KEY (project_id, story_id, mode),
            CONSTRAINT fk_order_dependences_project_id FOREIGN KEY (project_id)
                REFERENCES projects (id) ON DELETE CASCADE
        )
        """
    )


def downgrade() -> None:
    """Take it away."""
    op.execute("DROP TABLE order_dependences")
