"""What a browser is told that a bundle's file is.

A table of our own: the machine's differs from one to the next, and a browser runs no module that is
called text/plain.
"""

UNKNOWN = "application/octet-stream"
MEDIA_TYPES = {
    "avif": "image/avif",
    "bmp": "image/bmp",
    "cjs": "text/javascript",
    "css": "text/css",
    "csv": "text/csv",
    "gif": "image/gif",
    "glb": "model/gltf-binary",
    "gltf": "model/gltf+json",
    "htm": "text/html",
    "html": "text/html",
    "ico": "image/x-icon",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "js": "text/javascript",
    "json": "application/json",
    "jsx": "text/plain",  # sources that documentation shows: never run
    "m4a": "audio/mp4",
    "map": "application/json",
    "markdown": "text/markdown",
    "md": "text/markdown",
    "mdx": "text/markdown",
    "mjs": "text/javascript",
    "mov": "video/quicktime",
    "mp3": "audio/mpeg",
    "mp4": "video/mp4",
    "ogg": "audio/ogg",
    "otf": "font/otf",
    "pdf": "application/pdf",
    "png": "image/png",
    "svg": "image/svg+xml",
    "ts": "text/plain",
    "tsx": "text/plain",
    "ttf": "font/ttf",
    "txt": "text/plain",
    "vtt": "text/vtt",
    "wasm": "application/wasm",
    "wav": "audio/wav",
    "webm": "video/webm",
    "webmanifest": "application/manifest+json",
    "webp": "image/webp",
    "woff": "font/woff",
    "woff2": "font/woff2",
    "xhtml": "application/xhtml+xml",
    "xml": "application/xml",
    "yaml": "text/plain",
    "yml": "text/plain",
}


def media_type(path: str) -> str:
    """Return the type by the file's ending."""
    name = path[path.rfind("/") + 1 :]
    _, dot, ending = name.rpartition(".")
    return MEDIA_TYPES.get(ending.lower(), UNKNOWN) if dot else UNKNOWN
