package io.zrecord.testing;

import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;

/** Files of which the contents are never forced, for controls of tests that take the power away. */
public final class UnforcedFiles extends ForwardingFiles {
  public UnforcedFiles(MutableFiles files) {
    super(files);
  }

  @Override
  public MutableFile open(String name, boolean writable) {
    return new Unforced(files.open(name, writable));
  }

  @Override
  public MutableFile create(String name) {
    return new Unforced(files.create(name));
  }

  private static final class Unforced extends ForwardingFile {
    Unforced(MutableFile file) {
      super(file);
    }

    @Override
    public void force() {}
  }
}
