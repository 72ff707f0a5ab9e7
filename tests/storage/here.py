"""Whether a blob is here, by the only way that anybody asks for it."""

from storyshelf.ids import BlobKey
from storyshelf.storage.blobs import Blobs, MissingBlobError


async def is_here(blobs: Blobs, key: BlobKey) -> bool:
    try:
        await blobs.read(key)
    except MissingBlobError:
        return False
    return True
