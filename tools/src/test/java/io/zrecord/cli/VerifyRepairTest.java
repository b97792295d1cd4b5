package io.zrecord.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.cli.console.ExitCodes;
import io.zrecord.internal.store.verify.SampleStore;
import io.zrecord.store.RecordStore;
import io.zrecord.store.StoreOptions;
import io.zrecord.store.StoreSnapshot;
import io.zrecord.verify.Damage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** verify and repair: what they print, and their exit codes. */
final class VerifyRepairTest {
  @TempDir
  Path directory;

  @Test
  void aSoundStoreIsSaidToBe() {
    Path store = SampleStore.closed(directory.resolve("store"));
    Cli.Said said = Cli.run("verify", store);
    assertThat(said.exitCode()).isZero();
    assertThat(said.lines()).hasSize(1);
    assertThat(said.out()).contains("is sound").contains("1500 values of 500 records");
    Cli.Said repair = Cli.run("repair", store, "--yes");
    assertThat(repair.exitCode()).isZero();
    assertThat(repair.out()).contains("nothing that this command can repair");
  }

  /** Its chunk files have room for more than was published. */
  @Test
  void aStoreThatBecameATableIsSaidToBeSound() {
    Path store = SampleStore.closed(directory.resolve("store"));
    Path table = directory.resolve("table");
    StoreSnapshot.create(store, table);
    StoreSnapshot.convert(store);
    for (Path path : new Path[] {table, store}) {
      Cli.Said said = Cli.run("verify", path);
      assertThat(said.exitCode()).isZero();
      assertThat(said.lines()).hasSize(1);
      Cli.Said repair = Cli.run("repair", path, "--yes");
      assertThat(repair.exitCode()).isZero();
      assertThat(repair.out()).contains("nothing that this command can repair");
    }
  }

  @Test
  void atMostAHundredFindingsArePrintedAndTheReportHasAll() throws IOException {
    Path store = SampleStore.closed(directory.resolve("store"));
    for (int i = 0; i < 150; i++) {
      Damage.flip(store.resolve("text.crc32c"), 4L * i);
    }
    Path report = directory.resolve("report");
    Cli.Said said = Cli.run("verify", store, "--report", report, "--no-progress");
    assertThat(said.exitCode()).isEqualTo(ExitCodes.DAMAGED);
    assertThat(said.lines()).hasSize(102);
    assertThat(said.lines().get(0))
        .startsWith("DAMAGE ")
        .contains("text.offset, field 'text', record 0: ");
    assertThat(said.lines().get(100)).isEqualTo("… and 50 more");
    assertThat(said.lines().get(101)).contains("150 values");
    assertThat(Files.readAllLines(report)).hasSize(150);
    assertThat(Files.readAllLines(report).get(149))
        .startsWith("{\"damage\":true,\"kind\":\"value\",\"file\":\"")
        .contains("\"field\":\"text\",\"index\":149,\"count\":1,\"problem\":\"");
    assertThat(Cli.run("verify", store, "--report", report).exitCode()).isEqualTo(ExitCodes.USAGE);
  }

  @Test
  void aRepairAsksAndTakesNoForAnAnswer() {
    Path store = SampleStore.closed(directory.resolve("store"));
    Damage.flip(store.resolve("text.crc32c"), 4);
    for (String answer : new String[] {"", "n\n", "yes please\n"}) {
      Cli.Said said = Cli.runAnswering(answer, "repair", store, "--mark-absent");
      assertThat(said.exitCode()).isEqualTo(ExitCodes.FAILED);
      assertThat(said.out())
          .contains("would: make 1 damaged values absent")
          .contains("Nothing was changed");
    }
    Cli.Said dry = Cli.run("repair", store, "--mark-absent", "--dry-run", "--yes");
    assertThat(dry.exitCode()).isEqualTo(ExitCodes.DAMAGED);
    assertThat(Cli.run("verify", store).exitCode()).isEqualTo(ExitCodes.DAMAGED);
    Cli.Said done = Cli.runAnswering("y\n", "repair", store, "--mark-absent");
    assertThat(done.exitCode()).isZero();
    assertThat(done.out()).contains("is sound now");
    assertThat(SampleStore.text(store, 1)).isEqualTo("absent");
    assertThat(Cli.run("verify", store).exitCode()).isZero();
  }

  @Test
  void deletedRecordsAreReportedWithWhatMoved() {
    Path store = SampleStore.closed(directory.resolve("store"));
    Damage.flip(store.resolve("text.crc32c"), 4);
    Cli.Said said = Cli.run("repair", store, "--delete-records", "--yes");
    assertThat(said.exitCode()).isZero();
    assertThat(said.lines()).contains("record 499 is now 1");
  }

  @Test
  void whatIsNotRepairedIsSaid() {
    Path store = SampleStore.closed(directory.resolve("store"));
    Damage.flip(store.resolve("text.crc32c"), 4);
    Damage.flip(store.resolve("live"), 4);
    Cli.Said said = Cli.run("repair", store, "--yes");
    assertThat(said.exitCode()).isEqualTo(ExitCodes.DAMAGED);
    assertThat(said.out())
        .contains("not repaired: 1 damaged values stay")
        .contains("Repaired in part");
    Damage.delete(store.resolve("meta.json"));
    Cli.Said hopeless = Cli.run("repair", store, "--yes");
    assertThat(hopeless.exitCode()).isEqualTo(ExitCodes.FAILED);
    assertThat(hopeless.out()).contains("restore it from a copy");
  }

  @Test
  void whatIsOpenOrNoDatasetHasExitCodesOfItsOwn() {
    Path path = directory.resolve("store");
    try (RecordStore store =
        RecordStore.create(path, SampleStore.SCHEMA, StoreOptions.defaults())) {
      assertThat(store.length()).isZero();
      assertThat(Cli.run("verify", path).exitCode()).isZero();
      Cli.Said said = Cli.run("repair", path);
      assertThat(said.exitCode()).isEqualTo(ExitCodes.FAILED);
      assertThat(said.err()).contains("has it open");
      assertThat(Cli.run("info", path).exitCode()).isZero();
    }
    assertThat(Cli.run("verify", directory).exitCode()).isEqualTo(ExitCodes.USAGE);
    assertThat(Cli.run("verify", path, "--version", 1).exitCode()).isEqualTo(ExitCodes.USAGE);
    assertThat(Cli.run("repair", path, "--mark-absent", "--delete-records").exitCode())
        .isEqualTo(ExitCodes.USAGE);
  }
}
