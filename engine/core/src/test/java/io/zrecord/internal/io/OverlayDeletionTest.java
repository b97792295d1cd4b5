package io.zrecord.internal.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.zrecord.testing.JavaProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of a lower layer, as those of the image of a container, are deleted as others are. */
final class OverlayDeletionTest {
  @TempDir
  Path directory;

  /** Deletes a directory and a file. */
  static final class Deletion {
    private Deletion() {}

    public static void main(String[] arguments) {
      Path root = Path.of(arguments[0]);
      LocalMutableFiles files = new LocalMutableFiles(root);
      files.delete(List.of("chunk", "meta.json", "nothing"), () -> {});
      System.out.println("left: " + files.list(""));
    }
  }

  @Test
  void aDirectoryOfALowerLayerIsDeletedWithItsFiles() throws Exception {
    for (String name : List.of("lower/chunk/deep", "upper", "work", "merged")) {
      Files.createDirectories(directory.resolve(name));
    }
    for (String name : List.of("lower/chunk/0.zr", "lower/chunk/deep/1.zr", "lower/meta.json")) {
      Files.writeString(directory.resolve(name), name);
    }
    String mounting = "mount -t overlay overlay -o lowerdir=" + directory + "/lower,upperdir="
        + directory + "/upper,workdir=" + directory + "/work " + directory + "/merged";
    Process tried = new ProcessBuilder("unshare", "-m", "bash", "-c", mounting).start();
    assumeTrue(tried.waitFor() == 0, "this user may not mount");
    JavaProcess.Result result = JavaProcess.of(Deletion.class)
        .small()
        .after("set -- unshare -m bash -c '" + mounting + " && exec \"$@\"' bash \"$@\"")
        .run(directory.resolve("merged").toString());
    assertThat(result.output()).contains("left: []");
    assertThat(directory.resolve("lower/chunk/0.zr")).exists();
  }
}
