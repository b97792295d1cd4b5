package io.zrecord.internal.table;

import io.zrecord.internal.format.SealedJson;

/** A manifest and the bytes of its file, of which a tag keeps a copy. */
public final class ManifestFile {
  private final Manifest manifest;
  private final byte[] content;
  private final int checksum;

  private ManifestFile(Manifest manifest, byte[] content, int checksum) {
    this.manifest = manifest;
    this.content = content;
    this.checksum = checksum;
  }

  static ManifestFile read(String resource, long expectedVersion, byte[] content) {
    Manifest manifest = Manifest.read(resource, expectedVersion, content);
    return new ManifestFile(manifest, content, SealedJson.checksum(resource, content));
  }

  /** Returns the manifest. */
  public Manifest manifest() {
    return manifest;
  }

  /** Returns the bytes themselves, which nobody changes. */
  byte[] content() {
    return content;
  }

  /**
   * Returns a tag of the version.
   *
   * @param file name of a copy of this file, relative to the table
   */
  TagEntry tag(String name, long nowMillis, String file) {
    return new TagEntry(name, manifest.version(), nowMillis, file, content.length, checksum);
  }
}
