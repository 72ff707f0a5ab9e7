"""The server's own key: what is sealed with it and what it signs.

A forge's token has to be sent on, so unlike a password it cannot be kept as a hash. It is sealed by
AES-GCM under a key that the database does not hold: STORYSHELF_SECRET_KEY, else a file in the data
folder that the embedded form makes for itself. Each use has a key of its own, derived by HKDF.
"""

import hmac
import os
import secrets
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from storyshelf.errors import StoryshelfError

KEY_FILE = "secret.key"
KEY_BYTES = 32
NONCE_BYTES = 12
SEALING = "seal"


class SealedElsewhereError(StoryshelfError):
    """What was sealed does not open with this key."""

    def __init__(self) -> None:
        super().__init__(
            "A stored secret cannot be opened: it was sealed with another key",
            where="STORYSHELF_SECRET_KEY",
            next_step="Give server and consumers one key, or enter the secret again.",
        )


class DamagedKeyError(StoryshelfError):
    """The data folder's key is cut off: what is made of it could be guessed."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"The server's key is damaged: it has fewer than {KEY_BYTES} bytes",
            where=str(path),
            next_step="Bring it back from a backup; or remove the file, and enter the secrets of"
            " all connections again.",
        )


class Secrets:
    """Seals and signs under one key."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def seal(self, text: str) -> bytes:
        """Return the text so that only who has the key can read it."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        return nonce + AESGCM(self._derived(SEALING)).encrypt(nonce, text.encode(), None)

    def open(self, sealed: bytes) -> str:
        """Return the text that was sealed; raises SealedElsewhereError."""
        nonce, content = sealed[:NONCE_BYTES], sealed[NONCE_BYTES:]
        try:
            return AESGCM(self._derived(SEALING)).decrypt(nonce, content, None).decode()
        except InvalidTag:
            raise SealedElsewhereError from None

    def sign(self, purpose: str, message: bytes) -> bytes:
        """Return 32 bytes that only who has the key can make of the message."""
        return hmac.digest(self._derived(purpose), message, sha256)

    def is_signed(self, purpose: str, message: bytes, signature: bytes) -> bool:
        """Tell whether the signature is ours."""
        return hmac.compare_digest(self.sign(purpose, message), signature)

    def _derived(self, purpose: str) -> bytes:
        return HKDF(SHA256(), KEY_BYTES, salt=None, info=purpose.encode()).derive(self._key)


def secrets_of(named: str | None, data_dir: Path) -> Secrets:
    """Return the named key's secrets, else those of the data folder's own key, made if need be.

    Raises DamagedKeyError.
    """
    if named is not None:
        return Secrets(named.encode())
    return Secrets(_kept_key(data_dir / KEY_FILE))


def _kept_key(path: Path) -> bytes:
    """Read the key; two processes that make it at once end with the same one."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f"{KEY_FILE}.{secrets.token_hex(8)}")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(fresh, path)
        fresh.unlink()
    key = path.read_bytes()
    if len(key) < KEY_BYTES:
        raise DamagedKeyError(path)
    return key
