package io.zrecord.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.cli.console.ExitCodes;
import io.zrecord.internal.store.verify.SampleStore;
import io.zrecord.verify.Damage;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** create, append, get, delete and info on a store. */
final class StoreCommandsTest {
  @TempDir
  Path directory;

  private Path create(String... fields) {
    Path store = directory.resolve("store");
    Object[] arguments = new Object[2 + 2 * fields.length];
    arguments[0] = "create";
    arguments[1] = store;
    for (int i = 0; i < fields.length; i++) {
      arguments[2 + 2 * i] = "--field";
      arguments[3 + 2 * i] = fields[i];
    }
    assertThat(Cli.run(arguments).exitCode()).isZero();
    return store;
  }

  @Test
  void aBackupIsAStore() {
    Path store = create("label:i32");
    Cli.run("append", store, "--set", "label=7");
    Path copy = directory.resolve("copy");
    assertThat(Cli.run("backup", store, copy))
        .isEqualTo(new Cli.Said(0, "copied 1 records of " + store + " to " + copy + "\n", ""));
    assertThat(Cli.run("append", copy, "--set", "label=8").exitCode()).isZero();
    assertThat(Cli.run("get", copy, 0, 1).lines())
        .containsExactly("record 0", "  label: 7", "record 1", "  label: 8");
    assertThat(Cli.run("backup", store, copy).exitCode()).isNotZero();
    assertThat(Cli.run("verify", copy).exitCode()).isZero();
  }

  @Test
  void aRecordIsAppendedAndPrinted() throws IOException {
    Path store = create("text:utf8", "label:i32", "image:u8:2,2", "raw:bytes:zstd", "none:f32");
    Path file = Files.write(directory.resolve("raw"), new byte[] {1, 2, (byte) 0xff});
    Cli.Said said = Cli.run(
        "append",
        store,
        "--set",
        "text=a=b",
        "--set",
        "label=-7",
        "--set",
        "image=[[1,2],[3,255]]",
        "--file",
        "raw=" + file);
    assertThat(said).isEqualTo(new Cli.Said(0, "appended record 0\n", ""));
    assertThat(Cli.run("get", store, 0).lines())
        .containsExactly(
            "record 0",
            "  text: \"a=b\"",
            "  label: -7",
            "  image: u8[2,2] of 4: 1 2 3 255",
            "  raw: 3 bytes 0102ff",
            "  none: absent");
    assertThat(Cli.run("get", store, 0, "--as", "hex", "--field", "raw", "--field", "label")
            .lines())
        .containsExactly("record 0", "  raw: 0102ff", "  label: f9ffffff");
    assertThat(Cli.run("get", store, 0, 0, "--as", "text", "--field", "text").lines())
        .containsExactly("record 0", "  text: a=b", "record 0", "  text: a=b");
    assertThat(Cli.run("get", store, 0, "--as", "json").out())
        .isEqualTo("{\"text\":\"a=b\",\"label\":-7,\"image\":[[1,2],[3,255]],\"raw\":\"AQL/\","
            + "\"none\":null}\n");
  }

  @Test
  void valuesAreWrittenToFilesThatDoNotExist() throws IOException {
    Path store = create("a/b:bytes", "text:utf8");
    Cli.run("append", store, "--set", "a/b=xyz");
    Path output = directory.resolve("out");
    Cli.Said said = Cli.run("get", store, 0, "--as", "file", "--output", output);
    assertThat(said.exitCode()).isZero();
    assertThat(said.lines()).contains("  text: absent");
    assertThat(output.resolve("0-field-1")).hasContent("xyz");
    Cli.Said again = Cli.run("get", store, 0, "--as", "file", "--output", output);
    assertThat(again.exitCode()).isEqualTo(ExitCodes.USAGE);
    assertThat(again.err()).contains("it exists");
  }

  @Test
  void whatGetPrintsAsJsonCanBeAppendedAgain() throws IOException {
    Path store = create(
        "bool:bool",
        "i8:i8",
        "u64:u64",
        "f16:f16:-1,2",
        "bf16:bf16",
        "f32:f32",
        "f64:f64:flate",
        "date:date",
        "at:timestamp",
        "ntz:timestamp_ntz",
        "money:decimal(20,2)",
        "text:utf8:lz4",
        "raw:bytes");
    Path lines = directory.resolve("lines");
    String first = "{\"bool\":true,\"i8\":-128,\"u64\":18446744073709551615,"
        + "\"f16\":[[1.5,65504.0],[-0.0,5.9604645E-8]],\"bf16\":-3.0,\"f32\":\"NaN\","
        + "\"f64\":1.0E300,\"date\":\"1969-12-31\",\"at\":\"2026-11-21T08:00:00.000001Z\","
        + "\"ntz\":\"0001-01-01T00:00\",\"money\":\"-123456789012345678.90\","
        + "\"text\":\"ä\\n\",\"raw\":\"AAEC\"}";
    String second = "{\"bool\":null,\"i8\":null,\"u64\":0,\"f16\":[],\"bf16\":null,"
        + "\"f32\":\"-Infinity\",\"f64\":-0.0,\"date\":null,\"at\":null,\"ntz\":null,"
        + "\"money\":\"0.00\",\"text\":\"\",\"raw\":\"\"}";
    Files.writeString(lines, first + "\n\n" + second + "\n");
    assertThat(Cli.run("append", store, "--jsonl", lines))
        .isEqualTo(new Cli.Said(0, "appended 2 records from 0 on\n", ""));
    assertThat(Cli.run("get", store, 0, 1, "--as", "json").lines()).containsExactly(first, second);
    assertThat(Cli.run("verify", store).exitCode()).isZero();
  }

  @Test
  void aBadLineSaysWhichAndHowManyCameBefore() throws IOException {
    Path store = create("label:u8");
    Path lines = Files.writeString(
        directory.resolve("lines"), "{\"label\":1}\n{\"label\":256}\n", StandardCharsets.UTF_8);
    Cli.Said said = Cli.run("append", store, "--jsonl", lines);
    assertThat(said.exitCode()).isEqualTo(ExitCodes.USAGE);
    assertThat(said.err())
        .contains("line 2")
        .contains("from 0 to 255")
        .contains("The 1 records before it were appended");
    assertThat(said.err().lines()).hasSize(1);
  }

  @Test
  void aFileBeyondTheLimitOfAValueIsRefusedBeforeItIsRead() throws IOException {
    Path store = create("image:bytes");
    Path file = directory.resolve("large");
    // All hole: it takes no space, and would take 2 GiB of the heap.
    try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
      sparse.setLength(1L << 31);
    }
    Cli.Said said = Cli.run("append", store, "--file", "image=" + file);
    assertThat(said.exitCode()).isNotEqualTo(ExitCodes.DONE);
    assertThat(said.err())
        .contains("it has 2147483648 bytes", "a value at most 2147483647", "split it");
    assertThat(Cli.run("info", store).out()).contains("0 records");
  }

  @Test
  void wrongValuesAreRefusedInOneLine() {
    Path store = create("label:u8", "image:f32:2", "day:date", "sum:decimal(3,1)", "flag:bool");
    for (String value : new String[] {
      "label=1.5",
      "label=x",
      "label=256",
      "image=[1]",
      "image=[1,[2]]",
      "image=1",
      "day=2026-13-01",
      "sum=123.45",
      "sum=1000",
      "flag=1",
      "nothing=1",
      "image=[1,2"
    }) {
      Cli.Said said = Cli.run("append", store, "--set", value);
      assertThat(said.exitCode()).as(value).isEqualTo(ExitCodes.USAGE);
      assertThat(said.err()).as(value).startsWith("zrecord: ").doesNotContain("Internal");
      assertThat(said.err().lines()).as(value).hasSize(1);
    }
    assertThat(Cli.run("append", store).exitCode()).isEqualTo(ExitCodes.USAGE);
    assertThat(Cli.run("append", store, "--set", "label=3").out()).contains("record 0");
  }

  @Test
  void deletingSeveralMeansTheIndicesThatTheUserSaw() {
    Path store = create("label:i32");
    for (int i = 0; i < 10; i++) {
      Cli.run("append", store, "--set", "label=" + i);
    }
    Cli.Said none = Cli.run("delete", store, 3, 10);
    assertThat(none.exitCode()).isEqualTo(ExitCodes.USAGE);
    assertThat(none.err()).contains("0 to 9").contains("nothing was deleted");
    // 8 is deleted first, and 9 takes its place; then that moves on to 2.
    assertThat(Cli.run("delete", store, 2, 8, 2).lines())
        .containsExactly("deleted 2 records; 8 are left", "record 9 is now 2");
    assertThat(Cli.run("get", store, 0, 1, 2, 3, 7, "--as", "json").lines())
        .containsExactly(
            "{\"label\":0}", "{\"label\":1}", "{\"label\":9}", "{\"label\":3}", "{\"label\":7}");
  }

  @Test
  void infoSaysWhatAStoreIs() {
    Path store = SampleStore.closed(directory.resolve("store"));
    Cli.Said said = Cli.run("info", store);
    assertThat(said.exitCode()).isZero();
    assertThat(said.out())
        .contains("a store")
        .contains("500 records in 1 shards")
        .contains("utilization: 100.0 % (500 of 500) records")
        .containsPattern("zipped +bytes +- +zstd:3 +zipped");
    assertThat(Cli.run("info", store, "--json").out())
        .contains("\"kind\":\"store\"")
        .contains("\"length\":500");
    Cli.run("delete", store, 0);
    assertThat(Cli.run("info", store).out()).contains("99.8 % (499 of 500) records");
  }

  @Test
  void errorsNameTheRemedyAndTheExitCode() {
    Cli.Said none = Cli.run("info", directory.resolve("typo"));
    assertThat(none.exitCode()).isEqualTo(ExitCodes.USAGE);
    assertThat(none.err()).contains("no such directory").doesNotContain("\tat ");
    assertThat(none.err().lines()).hasSize(1);
    assertThat(Cli.run("info", directory.resolve("typo"), "--stacktrace").err()).contains("\tat ");
    Path store = create("label:i32");
    assertThat(Cli.run("create", store, "--field", "a:i8").exitCode()).isEqualTo(ExitCodes.USAGE);
    assertThat(Cli.run("create", directory.resolve("x"), "--field", "a").err()).contains("no type");
    assertThat(Cli.run("create", directory.resolve("x"), "--field", "a:i9").err())
        .contains("expected one of");
    assertThat(Cli.run("get", store, 0).err()).contains("it has 0 records");
    assertThat(Cli.run("get", store, "x").exitCode()).isEqualTo(ExitCodes.USAGE);
    assertThat(Cli.run("get", store, 0, "--version", 1).err()).contains("no table");
    Cli.Said unknown = Cli.run("info", store, "--what");
    assertThat(unknown.exitCode()).isEqualTo(ExitCodes.USAGE);
    assertThat(unknown.err().lines()).hasSize(1);
    assertThat(unknown.err()).contains("--what").contains("zrecord info --help");
  }

  @Test
  void helpSaysExitCodes() {
    assertThat(Cli.run("--help").out())
        .contains("Exit codes:")
        .contains("import")
        .contains("verify");
    assertThat(Cli.run("verify", "--help").out()).contains("Exit codes:").contains("--report");
    assertThat(Cli.run("import", "files", "--help").out()).contains("DIR");
    assertThat(Cli.run("--version").out()).startsWith("zrecord ");
  }

  @Test
  void controlCharactersOfADatasetDoNotReachTheTerminal() {
    Path store = create("na\u001b[2Jme:utf8");
    Cli.run("append", store, "--set", "na\u001b[2Jme=te\u0007xt\u009b");
    assertThat(Cli.run("get", store, 0).lines())
        .containsExactly("record 0", "  na\\u001b[2Jme: \"te\\u0007xt\\u009b\"");
    Damage.flip(store.resolve("field-1.crc32c"), 0);
    String said = Cli.run("verify", store).out()
        + Cli.run("info", store).out()
        + Cli.run("get", store, 0, "--field", "x").err();
    assertThat(said).contains("\\u001b[2Jme").doesNotContain("\u001b");
  }

  @Test
  void chunksAreListedWithWhatIsAliveInThem() {
    Path store = create("text:utf8");
    Cli.run("append", store, "--set", "text=aaaaa");
    Cli.run("append", store, "--set", "text=b");
    Cli.run("delete", store, 0);
    // b at 72; a deletion moves it to the place of the first record.
    Cli.Said said = Cli.run("info", store, "--chunks");
    assertThat(said.err()).isEmpty();
    assertThat(said.lines())
        .contains(
            "          bytes            live            dead         padding   bytes  records  chunk",
            "             73               1               8              64    1.4%    50.0%  chunk/0.zr",
            "             73               1               8              64    1.4%    50.0%  all 1 chunks",
            "shard sizes: 1 from 64 B",
            "chunk sizes: 1 from 64 B",
            "fragmentation: 0.0 % scattered, 0 bytes apart, a scan reads 4096.00 bytes for a live one",
            "  text: 1 bytes, 0 of 1 absent, 0.0 % scattered, 0 bytes apart, a scan reads 4096.00 bytes for a live one");
    assertThat(Cli.run("info", store, "--chunks", "--json").out())
        .startsWith("{\"path\":")
        .contains("\"kind\":\"store\"")
        .contains("\"chunkFiles\":[{\"shard\":\"")
        .contains("\"file\":\"chunk/0.zr\",\"fileBytes\":73,\"liveBytes\":1,\"deadBytes\":8,"
            + "\"paddingBytes\":64,\"writtenRecords\":2,\"liveRecords\":1,")
        .contains("\"liveBytesByFieldId\":{\"1\":1}}],\"usage\":{\"records\":1,")
        .contains("\"valueSizes\":[{\"fromBytes\":1,\"toBytes\":1,\"count\":1}]")
        .endsWith("}\n");
    assertThat(Cli.run("info", store, "--json").out()).doesNotContain("chunkFiles");
  }
}
