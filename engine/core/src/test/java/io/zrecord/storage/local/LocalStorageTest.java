package io.zrecord.storage.local;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.internal.io.AtomicPublication;
import io.zrecord.internal.io.LocalFiles;
import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StorageContractTest;
import io.zrecord.storage.WritableFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class LocalStorageTest extends StorageContractTest {
  @TempDir
  Path directory;

  @Override
  protected Storage emptyStorage() {
    return LocalStorage.at(directory.resolve("not/yet/there"));
  }

  @Test
  void linksInsideAreRefusedButTheRootMayBeOne() throws IOException {
    write("real/f", "x");
    Path root = Path.of(storage.location());
    Files.createSymbolicLink(root.resolve("link"), root.resolve("real/f"));
    Files.createSymbolicLink(root.resolve("way"), root.resolve("real"));
    for (String name : new String[] {"link", "way/f"}) {
      assertThatThrownBy(() -> storage.open(name))
          .isInstanceOf(StorageException.class)
          .hasMessageContaining("symbolic link");
      assertThatThrownBy(() -> storage.read(name, 9)).isInstanceOf(StorageException.class);
    }
    storage.delete("way");
    assertThat(storage.read("real/f", 9)).hasSize(1);
    Files.createSymbolicLink(directory.resolve("root"), root);
    assertThat(LocalStorage.at(directory.resolve("root")).read("real/f", 9)).hasSize(1);
    assertThat(LocalStorage.at(directory.resolve("root")).list("real")).hasSize(1);
  }

  @Test
  void aFileCutAfterItWasOpenedIsTruncated() throws IOException {
    write("f", "0123456789");
    ReadableFile file = storage.open("f");
    try (var channel = java.nio.channels.FileChannel.open(
        Path.of(storage.pathOf("f")), StandardOpenOption.WRITE)) {
      channel.truncate(4);
    }
    assertThatThrownBy(() -> file.region(0, 10))
        .isInstanceOf(TruncatedFileException.class)
        .hasMessageContaining("only 4 bytes");
  }

  @Test
  void anInterruptEndsTheCallAndStaysSet() {
    write("f", "0123456789");
    ReadableFile file = storage.open("f");
    try (WritableFile written = storage.create("g")) {
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> written.write(ByteBuffer.wrap(new byte[8])))
          .isInstanceOf(StorageException.class)
          .hasMessageContaining("interrupted");
      assertThat(Thread.currentThread().isInterrupted()).isTrue();
      assertThatThrownBy(() -> file.region(0, 10)).isInstanceOf(StorageException.class);
      assertThatThrownBy(() -> storage.publish("p", new byte[1]))
          .isInstanceOf(StorageException.class);
      storage.forceDirectory("");
      assertThat(Thread.interrupted()).isTrue();
    } finally {
      Thread.interrupted();
    }
    assertThat(file.region(0, 10).remaining()).isEqualTo(10);
    assertThat(storage.exists("p")).isFalse();
    assertThat(storage.list("")).hasSize(2);
  }

  @Test
  void aFullDeviceIsADiskFullException() throws IOException {
    Path full = Path.of("/dev/full");
    org.junit.jupiter.api.Assumptions.assumeTrue(Files.exists(full));
    try (var file = new io.zrecord.internal.io.AppendFile(
        full, java.nio.channels.FileChannel.open(full, StandardOpenOption.WRITE))) {
      assertThatThrownBy(() -> file.write(ByteBuffer.wrap(new byte[8])))
          .isInstanceOf(io.zrecord.errors.DiskFullException.class);
    }
  }

  @Test
  void aLostResponseOfALinkIsReadBackAsSuccess() {
    Storage lossy = withLinker((name, existing) -> {
      Files.createLink(name, existing);
      throw new IOException("Input/output error");
    });
    assertThat(lossy.publish("m/0", "a".getBytes(UTF_8))).isTrue();
    assertThat(lossy.publish("m/0", "a".getBytes(UTF_8))).isFalse();
    assertThat(lossy.list("m")).hasSize(1);
  }

  @Test
  void aRepeatedRequestThatFindsItsOwnLinkIsSuccess() {
    Storage repeating = withLinker((name, existing) -> {
      Files.createLink(name, existing);
      throw new FileAlreadyExistsException(name.toString());
    });
    assertThat(repeating.publish("m/0", "a".getBytes(UTF_8))).isTrue();
  }

  @Test
  void aLinkThatFailedHadNoEffect() {
    Storage failing = withLinker((name, existing) -> {
      throw new IOException("Input/output error");
    });
    assertThatThrownBy(() -> failing.publish("m/0", new byte[1]))
        .isInstanceOf(StorageException.class);
    assertThat(failing.list("m")).isEmpty();
  }

  @Test
  void anErrorWithAnothersFileInPlaceIsALoss() {
    Storage beaten = withLinker((name, existing) -> {
      Files.writeString(name, "another's");
      throw new IOException("Input/output error");
    });
    assertThat(beaten.publish("m/0", new byte[1])).isFalse();
    assertThat(beaten.read("m/0", 99)).asString().isEqualTo("another's");
  }

  @Test
  void whatCannotBeReadBackIsUnknown() {
    Storage gone = withLinker((name, existing) -> {
      Files.delete(existing);
      throw new IOException("Input/output error");
    });
    assertThatThrownBy(() -> gone.publish("m/0", new byte[1]))
        .isInstanceOf(CommitOutcomeUnknownException.class)
        .hasMessageContaining("Delete nothing");
  }

  @Test
  void aFileSystemWithoutLinksIsRefusedWithARemedy() {
    for (Exception e : new Exception[] {
      new UnsupportedOperationException("links"),
      new FileSystemException("m/0", null, "Operation not permitted")
    }) {
      Storage without = withLinker((name, existing) -> {
        if (e instanceof IOException io) {
          throw io;
        }
        throw (RuntimeException) e;
      });
      assertThatThrownBy(() -> without.publish("m/0", new byte[1]))
          .isInstanceOf(StorageException.class)
          .hasMessageContaining("atomically")
          .hasMessageContaining("ext4");
      assertThat(without.exists("m/0")).isFalse();
    }
  }

  private Storage withLinker(AtomicPublication.Linker linker) {
    Path root = directory.resolve("faulty");
    LocalFiles files = new LocalFiles(root);
    return new LocalStorage(root, files, new AtomicPublication(files, linker));
  }
}
