"""What a team needs: people, their sessions and roles, scoped tokens, and deliveries to a forge.

Written out rather than made from `storyshelf.db.tables`, which moves on; a test holds the two
together.
"""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

CHILDREN = (  # what goes when its parent is deleted, or forgets it
    ("tokens", "project_id", "projects", "CASCADE"),
    ("project_blobs", "project_id", "projects", "CASCADE"),
    ("bundle_files", "build_id", "builds", "CASCADE"),
    ("shards", "build_id", "builds", "CASCADE"),
    ("snapshots", "build_id", "builds", "CASCADE"),
    ("snapshots", "shard_id", "shards", "CASCADE"),
    ("snapshots", "baseline_snapshot_id", "snapshots", "SET NULL"),
)


def _goes_with(table: str, column: str, parent: str, action: str = "NO ACTION") -> str:
    name = f"fk_{table}_{column}"
    return (
        f"ALTER TABLE {table} DROP CONSTRAINT {name}, ADD CONSTRAINT {name}"
        f" FOREIGN KEY ({column}) REFERENCES {parent} (id) ON DELETE {action}"
    )


STATEMENTS = (
    "ALTER TABLE tokens ADD COLUMN scopes text[] DEFAULT '{read,upload,review}' NOT NULL",
    "ALTER TABLE tokens ALTER COLUMN scopes DROP DEFAULT",
    "ALTER TABLE builds ADD COLUMN pull_request integer",
    "ALTER TABLE builds ADD COLUMN ci jsonb DEFAULT '{}' NOT NULL",
    "ALTER TABLE builds ADD COLUMN deleted_ancestor integer",
    "ALTER TABLE snapshots ADD COLUMN console jsonb DEFAULT '[]' NOT NULL",
    *(_goes_with(*child) for child in CHILDREN),
    "ALTER TABLE projects ADD COLUMN deleting_at timestamptz",
    "ALTER TABLE blobs ADD COLUMN used_at timestamptz DEFAULT now() NOT NULL",
    "CREATE INDEX ix_builds_ancestor ON builds (ancestor_build_id)"
    " WHERE ancestor_build_id IS NOT NULL",
    "CREATE INDEX ix_builds_pending ON builds (project_id, number DESC) WHERE state = 'pending'",
    "CREATE INDEX ix_jobs_done_failed ON jobs_done (finished_at DESC, id DESC)"
    " WHERE state = 'failed'",
    "CREATE INDEX ix_snapshots_mask ON snapshots (mask_key) WHERE mask_key IS NOT NULL",
    "CREATE INDEX ix_snapshots_frames ON snapshots USING gin (frames) WHERE frames <> '{}'",
    "CREATE INDEX ix_snapshots_baseline ON snapshots (baseline_snapshot_id)",
    "CREATE INDEX ix_snapshots_effective ON snapshots (effective_snapshot_id)",
    """
    CREATE TABLE users (
        id bigint GENERATED ALWAYS AS IDENTITY,
        email text NOT NULL,
        name text NOT NULL,
        password_hash text,
        is_admin boolean DEFAULT false NOT NULL,
        created_at timestamptz DEFAULT now() NOT NULL,
        disabled_at timestamptz,
        CONSTRAINT pk_users PRIMARY KEY (id),
        CONSTRAINT uq_users_email UNIQUE (email),
        CONSTRAINT ck_users_email CHECK (email = lower(email))
    )
    """,
    """
    CREATE TABLE sessions (
        id bigint GENERATED ALWAYS AS IDENTITY,
        user_id bigint NOT NULL,
        secret_hash bytea NOT NULL,
        user_agent text NOT NULL,
        created_at timestamptz DEFAULT now() NOT NULL,
        last_used_at timestamptz DEFAULT now() NOT NULL,
        idle interval NOT NULL,
        expires_at timestamptz NOT NULL,
        revoked_at timestamptz,
        CONSTRAINT pk_sessions PRIMARY KEY (id),
        CONSTRAINT uq_sessions_secret_hash UNIQUE (secret_hash),
        CONSTRAINT ck_sessions_secret_hash CHECK (octet_length(secret_hash) = 32),
        CONSTRAINT fk_sessions_user_id FOREIGN KEY (user_id) REFERENCES users (id)
    )
    """,
    "CREATE INDEX ix_sessions_user_id ON sessions (user_id)",
    """
    CREATE TABLE sign_in_links (
        id bigint GENERATED ALWAYS AS IDENTITY,
        user_id bigint NOT NULL,
        secret_hash bytea NOT NULL,
        created_at timestamptz DEFAULT now() NOT NULL,
        expires_at timestamptz NOT NULL,
        used_at timestamptz,
        CONSTRAINT pk_sign_in_links PRIMARY KEY (id),
        CONSTRAINT uq_sign_in_links_secret_hash UNIQUE (secret_hash),
        CONSTRAINT ck_sign_in_links_secret_hash CHECK (octet_length(secret_hash) = 32),
        CONSTRAINT fk_sign_in_links_user_id FOREIGN KEY (user_id) REFERENCES users (id)
    )
    """,
    "CREATE INDEX ix_sign_in_links_user_id ON sign_in_links (user_id)",
    """
    CREATE TABLE members (
        project_id bigint NOT NULL,
        user_id bigint NOT NULL,
        role text NOT NULL,
        added_at timestamptz DEFAULT now() NOT NULL,
        CONSTRAINT pk_members PRIMARY KEY (project_id, user_id),
        CONSTRAINT ck_members_role CHECK (role IN ('viewer', 'developer', 'reviewer', 'admin')),
        CONSTRAINT fk_members_project_id FOREIGN KEY (project_id) REFERENCES projects (id)
            ON DELETE CASCADE,
        CONSTRAINT fk_members_user_id FOREIGN KEY (user_id) REFERENCES users (id)
    )
    """,
    "CREATE INDEX ix_members_user_id ON members (user_id)",
    """
    CREATE TABLE connections (
        id bigint GENERATED ALWAYS AS IDENTITY,
        project_id bigint NOT NULL,
        kind text NOT NULL,
        name text NOT NULL,
        config jsonb NOT NULL,
        secret bytea NOT NULL,
        created_at timestamptz DEFAULT now() NOT NULL,
        disabled_at timestamptz,
        resting_until timestamptz,
        CONSTRAINT pk_connections PRIMARY KEY (id),
        CONSTRAINT ck_connections_kind CHECK (kind IN ('github', 'gitlab', 'webhook')),
        CONSTRAINT fk_connections_project_id FOREIGN KEY (project_id) REFERENCES projects (id)
            ON DELETE CASCADE
    )
    """,
    "CREATE INDEX ix_connections_project_id ON connections (project_id)",
    """
    CREATE TABLE deliveries (
        id bigint GENERATED ALWAYS AS IDENTITY,
        connection_id bigint NOT NULL,
        build_id bigint,
        subject text NOT NULL,
        wanted jsonb NOT NULL,
        version integer DEFAULT 1 NOT NULL,
        sent_version integer DEFAULT 0 NOT NULL,
        state text DEFAULT 'waiting' NOT NULL,
        sending_job_id bigint,
        sending_until timestamptz,
        error text,
        changed_at timestamptz DEFAULT now() NOT NULL,
        sent_at timestamptz,
        CONSTRAINT pk_deliveries PRIMARY KEY (id),
        CONSTRAINT uq_deliveries_connection_id_subject UNIQUE (connection_id, subject),
        CONSTRAINT ck_deliveries_sent_version CHECK (sent_version BETWEEN 0 AND version),
        CONSTRAINT ck_deliveries_state CHECK (state IN ('waiting', 'sent', 'failed')),
        CONSTRAINT fk_deliveries_connection_id FOREIGN KEY (connection_id)
            REFERENCES connections (id) ON DELETE CASCADE,
        CONSTRAINT fk_deliveries_build_id FOREIGN KEY (build_id) REFERENCES builds (id)
            ON DELETE SET NULL
    )
    """,
    "CREATE INDEX ix_deliveries_build_id ON deliveries (build_id)",
)

TABLES = ("users", "sessions", "sign_in_links", "members", "connections", "deliveries")
INDEXES = (
    "ix_builds_ancestor",
    "ix_builds_pending",
    "ix_jobs_done_failed",
    "ix_snapshots_mask",
    "ix_snapshots_frames",
    "ix_snapshots_baseline",
    "ix_snapshots_effective",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


# What the version before cannot understand must not do more there than it does here.
UNKNOWN_BEFORE = (
    "DELETE FROM jobs WHERE kind = 'deliver'",
    # Without scopes a token may do everything.
    "UPDATE tokens SET revoked_at = now()"
    " WHERE revoked_at IS NULL AND NOT scopes @> '{read,upload,review}'",
)


def downgrade() -> None:
    for statement in UNKNOWN_BEFORE:
        op.execute(statement)
    for table in reversed(TABLES):
        op.execute(f'DROP TABLE "{table}"')
    for index in INDEXES:
        op.execute(f"DROP INDEX {index}")
    for table, column, parent, _ in CHILDREN:
        op.execute(_goes_with(table, column, parent))
    op.execute("ALTER TABLE snapshots DROP COLUMN console")
    op.execute("ALTER TABLE blobs DROP COLUMN used_at")
    op.execute("ALTER TABLE projects DROP COLUMN deleting_at")
    op.execute("ALTER TABLE builds DROP COLUMN ci, DROP COLUMN pull_request")
    op.execute("ALTER TABLE builds DROP COLUMN deleted_ancestor")
    op.execute("ALTER TABLE tokens DROP COLUMN scopes")
