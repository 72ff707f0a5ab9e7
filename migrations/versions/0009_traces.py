"""Traces of stories: recorded on wish, and gone with their snapshots."""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table; who does not know it leaves it alone."""
    op.execute("""
        CREATE TABLE traces (
            snapshot_id bigint NOT NULL,
            state text DEFAULT 'wished' NOT NULL,
            job_id bigint NOT NULL,
            blob_key text,
            size_bytes bigint,
            note text NOT NULL,
            wished_by text NOT NULL,
            wished_at timestamp with time zone DEFAULT now() NOT NULL,
            ended_at timestamp with time zone,
            CONSTRAINT pk_traces PRIMARY KEY (snapshot_id),
            CONSTRAINT fk_traces_snapshot_id FOREIGN KEY (snapshot_id)
                REFERENCES snapshots (id) ON DELETE CASCADE,
            CONSTRAINT fk_traces_blob_key FOREIGN KEY (blob_key) REFERENCES blobs (key),
            CONSTRAINT ck_traces_state CHECK (state IN ('wished', 'recorded', 'failed')),
            CONSTRAINT ck_traces_ended_when_over
                CHECK ((ended_at IS NULL) = (state = 'wished')),
            CONSTRAINT ck_traces_recorded_what CHECK (
                (state = 'recorded') = (blob_key IS NOT NULL AND size_bytes IS NOT NULL)
            )
        )
    """)
    op.execute("CREATE INDEX ix_traces_job_id ON traces (job_id)")
    op.execute("CREATE INDEX ix_traces_blob ON traces (blob_key) WHERE blob_key IS NOT NULL")


def downgrade() -> None:
    """Drop the table; the next sweep removes the recordings."""
    op.execute("DROP TABLE traces")
