package io.zrecord.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.cli.console.ExitCodes;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * The command as users run it: the script, the jar with all libraries, a process of its own in a
 * bare environment.
 */
@DisabledOnOs(OS.WINDOWS)
final class LauncherIT {
  private static final Path LAUNCHER =
      Path.of("../bin/zrecord").toAbsolutePath().normalize();
  private static final String OF_SHORT_PROCESSES = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC";

  @TempDir
  Path directory;

  private record Said(int exitCode, String out, String err) {}

  private Said run(Object... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(LAUNCHER.toString()));
    for (Object argument : arguments) {
      command.add(String.valueOf(argument));
    }
    Path out = directory.resolve("out");
    Path err = directory.resolve("err");
    ProcessBuilder builder = new ProcessBuilder(command)
        .redirectOutput(out.toFile())
        .redirectError(err.toFile())
        .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()));
    builder.environment().keySet().retainAll(List.of("PATH"));
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("ZRECORD_JAVA_OPTIONS", OF_SHORT_PROCESSES);
    Process process = builder.start();
    assertThat(process.waitFor(10, TimeUnit.MINUTES)).isTrue();
    return new Said(
        process.exitValue(),
        Files.readString(out, StandardCharsets.UTF_8),
        Cli.withoutProgress(Files.readString(err, StandardCharsets.UTF_8)));
  }

  @Test
  void aFolderIsImportedCheckedAndRead() throws Exception {
    Path folder = Files.createDirectories(directory.resolve("folder"));
    Files.writeString(folder.resolve("b.txt"), "bee");
    Files.writeString(folder.resolve("a.txt"), "ä");
    Path table = directory.resolve("table");
    assertThat(run("--version").out).startsWith("zrecord 0.");
    assertThat(run("import", "files", folder, table))
        .isEqualTo(new Said(0, "imported 2 files, 5 bytes, to " + table + "\n", ""));
    assertThat(run("verify", table)).returns(0, Said::exitCode).returns("", Said::err);
    assertThat(run("get", table, 0, "--as", "text", "--field", "content"))
        .isEqualTo(new Said(0, "record 0\n  content: ä\n", ""));
    Said wrong = run("get", table, 2);
    assertThat(wrong.exitCode).isEqualTo(ExitCodes.USAGE);
    assertThat(wrong.err.lines()).hasSize(1);
  }

  @Test
  void aStoreWithCompressedValuesIsWritten() throws Exception {
    Path store = directory.resolve("store");
    assertThat(run("create", store, "--field", "z:utf8:zstd", "--field", "l:utf8:lz4").exitCode)
        .isZero();
    String text = "compressible ".repeat(100);
    assertThat(run("append", store, "--set", "z=" + text, "--set", "l=" + text))
        .isEqualTo(new Said(0, "appended record 0\n", ""));
    assertThat(run("get", store, 0, "--as", "text").out).contains("z: " + text, "l: " + text);
    // Nobody is there to answer.
    Files.delete(store.resolve("live"));
    assertThat(run("repair", store)).returns(ExitCodes.FAILED, Said::exitCode);
    assertThat(run("repair", store, "--yes")).returns(ExitCodes.DONE, Said::exitCode);
  }

  @Test
  void aFeedIsAStreamOfArrowToItsEnd() throws Exception {
    Path folder = Files.createDirectories(directory.resolve("folder"));
    Files.writeString(folder.resolve("a.txt"), "first");
    Files.writeString(folder.resolve("b.txt"), "second");
    Path table = directory.resolve("table");
    assertThat(run("import", "files", folder, table).exitCode).isZero();
    Path out = directory.resolve("stream");
    ProcessBuilder feed = new ProcessBuilder(
            LAUNCHER.toString(), "feed", table.toString(), "--sampler=sequential", "--batch-size=1")
        .redirectOutput(out.toFile())
        .redirectError(ProcessBuilder.Redirect.INHERIT);
    feed.environment().put("JAVA_HOME", System.getProperty("java.home"));
    feed.environment().put("ZRECORD_JAVA_OPTIONS", OF_SHORT_PROCESSES);
    Process process = feed.start();
    assertThat(process.waitFor(10, TimeUnit.MINUTES)).isTrue();
    assertThat(process.exitValue()).isZero();
    // A message has its length before it, of its metadata without the body: the text is enough to
    // tell them apart.
    String stream = Files.readString(out, StandardCharsets.ISO_8859_1);
    assertThat(stream.split("zrecord.next", -1)).hasSize(3);
    assertThat(stream)
        .contains("first", "second", "\"position\":1", "\"epoch\":1,\"batch\":2")
        .startsWith("\u00ff\u00ff\u00ff\u00ff")
        .endsWith("\u00ff\u00ff\u00ff\u00ff\0\0\0\0");
  }
}
