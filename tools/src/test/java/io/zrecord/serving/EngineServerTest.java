package io.zrecord.serving;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDataset;
import io.zrecord.serving.Request.Kind;
import io.zrecord.serving.ServedProcess.Answer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a parent process may send, and what becomes of it. */
class EngineServerTest {
  private static final String FIELDS =
      "[{\"name\": \"x\", \"type\": \"i32\"}, {\"name\": \"t\", \"type\": \"utf8\"}]";

  @TempDir
  private Path directory;

  private Path table;
  private ServedProcess parent;

  @BeforeEach
  void begin() {
    table = directory.resolve("table");
    parent = new ServedProcess(directory);
  }

  /** Sends three records: 1 and "a", absent and "", 3 and an absent text. */
  private ServedProcess records(int session) {
    long numbers = parent.put(new byte[] {1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0});
    long present = parent.put((byte) 0b101);
    long text = parent.put((byte) 'a');
    byte[] ends = new byte[32];
    ends[8] = 1;
    ends[16] = 1;
    ends[24] = 1;
    long offsets = parent.put(ends);
    long texts = parent.put((byte) 0b011);
    return parent.batch(session, 3, numbers, 12, -1, present, text, 1, offsets, texts);
  }

  private static List<String> kinds(List<Answer> answers) {
    return answers.stream().map(Answer::kind).toList();
  }

  private long shardCount() throws IOException {
    if (!Files.exists(table.resolve("shard"))) {
      return 0;
    }
    try (Stream<Path> shards = Files.list(table.resolve("shard"))) {
      return shards.count();
    }
  }

  @Test
  void batchesAreCommittedWhenItIsAskedFor() throws IOException {
    parent.send(Kind.PING, 9).open(1, table, "create").send(Kind.FIELDS, 1, FIELDS);
    records(1);
    records(1).send(Kind.COMMIT, 1);
    List<Answer> answers = parent.serve();
    assertThat(kinds(answers)).containsExactly("HELLO", "PONG", "OPENED", "DONE");
    assertThat(answers.get(2).json().path("since").asLong()).isEqualTo(-1);
    assertThat(answers.get(3).json().path("records").asLong()).isEqualTo(6);
    try (RecordDataset data = RecordDataset.open(table.toString())) {
      assertThat(data.length()).isEqualTo(6);
      try (var batch = data.gather(new long[] {3, 4, 5}, "x", "t")) {
        assertThat(batch.value("x", 0).getInt()).isEqualTo(1);
        assertThat(batch.isAbsent("x", 1)).isTrue();
        assertThat(batch.value("t", 1).remaining()).isZero();
        assertThat(batch.isAbsent("t", 2)).isTrue();
      }
    }
  }

  @Test
  void theEndOfTheFramesAbortsWhatIsOpen() throws IOException {
    parent.open(1, table, "create").send(Kind.FIELDS, 1, FIELDS);
    records(1).send(Kind.COMMIT, 1).cut(1);
    assertThat(kinds(parent.serve())).containsExactly("HELLO", "OPENED");
    assertThat(table.resolve("manifest")).doesNotExist();
    assertThat(shardCount()).isZero();
  }

  @Test
  void anAbortDeletesWhatWasWritten() throws IOException {
    parent.open(1, table, "create").send(Kind.FIELDS, 1, FIELDS);
    records(1).send(Kind.ABORT, 1).send(Kind.COMMIT, 1);
    List<Answer> answers = parent.serve();
    assertThat(kinds(answers)).containsExactly("HELLO", "OPENED", "ABORTED", "FAILED");
    assertThat(answers.get(3).message()).contains("nothing can be committed");
    assertThat(shardCount()).isZero();
  }

  @Test
  void anAttemptThatIsRepeatedTakesEffectOnce() throws IOException {
    parent.open(1, table, "append").send(Kind.FIELDS, 1, FIELDS);
    records(1).send(Kind.COMMIT, 1);
    parent.send(
        Kind.OPEN,
        2,
        "{\"path\": \"" + table + "\", \"mode\": \"append\", \"since\": -1,"
            + " \"commit\": \"00000000-0000-0000-0000-000000000001\"}");
    List<Answer> answers = parent.serve();
    assertThat(answers.get(3).json().path("done").path("version").asLong(-1)).isZero();
    assertThat(answers.get(3).json().path("done").path("length").asLong()).isEqualTo(3);
  }

  @Test
  void whatIsNoFrameEndsTheServerWithoutACommit() throws IOException {
    parent.open(1, table, "create").send(Kind.FIELDS, 1, FIELDS);
    records(1).frame(99, 1, 0, 0, 0).send(Kind.COMMIT, 1);
    assertThatThrownBy(parent::serve)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("kind 99")
        .hasMessageContaining("install versions that belong together");
    assertThat(kinds(parent.answered())).containsExactly("HELLO", "OPENED");
    assertThat(shardCount()).isZero();
    assertThat(table.resolve("manifest")).doesNotExist();
  }

  @Test
  void lengthsAndReservedBytesOfFramesAreChecked() {
    long[][] wrong = {{0, -1, 0}, {-1, 8, 0}, {0, 1L << 40, 0}, {0, 0, 1}};
    for (long[] frame : wrong) {
      ServedProcess one = new ServedProcess(directory)
          .frame(Kind.OPEN.code(), 1, frame[0], frame[1], (int) frame[2]);
      assertThatThrownBy(one::serve).isInstanceOf(IllegalArgumentException.class);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "count 0",
        "count -1",
        "count 2^40",
        "short",
        "values beyond the memory",
        "values too short",
        "offsets of one width",
        "no offsets",
        "offsets that fall",
        "offsets that end early",
        "no text"
      })
  void aBatchThatBreaksTheRulesFailsItsSessionOnly(String what) throws IOException {
    parent.open(1, table, "create").send(Kind.FIELDS, 1, FIELDS);
    records(1);
    long at = parent.put(new byte[64]);
    byte[] falling = new byte[16];
    falling[0] = 1;
    long fall = parent.put(falling);
    byte[] one = new byte[16];
    one[8] = 1;
    long end = parent.put(one);
    long bad = parent.put((byte) 0xff);
    switch (what) {
      case "count 0" -> parent.batch(1, 0, at, 0, -1, -1, at, 0, at, -1);
      case "count -1" -> parent.batch(1, -1, at, 4, -1, -1, at, 0, at, -1);
      case "count 2^40" -> parent.batch(1, 1L << 40, at, 4, -1, -1, at, 0, at, -1);
      case "short" -> parent.batch(1, 1, at, 4, -1, -1);
      case "values beyond the memory" -> parent.batch(1, 1, 1L << 50, 4, -1, -1, at, 0, at, -1);
      case "values too short" -> parent.batch(1, 2, at, 4, -1, -1, at, 0, at, -1);
      case "offsets of one width" -> parent.batch(1, 1, at, 4, at, -1, at, 0, at, -1);
      case "no offsets" -> parent.batch(1, 1, at, 4, -1, -1, at, 0, -1, -1);
      case "offsets that fall" -> parent.batch(1, 1, at, 4, -1, -1, at, 0, fall, -1);
      case "offsets that end early" -> parent.batch(1, 1, at, 4, -1, -1, at, 2, end, -1);
      case "no text" -> parent.batch(1, 1, at, 4, -1, -1, bad, 1, end, -1);
      default -> throw new AssertionError(what);
    }
    parent.send(Kind.COMMIT, 1).send(Kind.PING, 2);
    List<Answer> answers = parent.serve();
    assertThat(kinds(answers)).containsExactly("HELLO", "OPENED", "FAILED", "FAILED", "PONG");
    assertThat(answers.get(2).json().path("class").asText()).isEqualTo("IllegalArgumentException");
    assertThat(shardCount()).isZero();
    assertThat(table.resolve("manifest")).doesNotExist();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[]",
        "{",
        "{\"path\": 3}",
        "{\"path\": \"/tmp/x\", \"mode\": \"w\"}",
        "{\"path\": \"/tmp/x\", \"mode\": \"append\", \"commit\": \"1\"}"
      })
  void aSessionThatCannotBeOpenedSaysWhy(String json) throws IOException {
    List<Answer> answers = parent.send(Kind.OPEN, 1, json).send(Kind.COMMIT, 1).serve();
    assertThat(kinds(answers)).containsExactly("HELLO", "FAILED", "FAILED");
    assertThat(answers.get(1).message()).isNotBlank();
  }

  @Test
  void whatNobodyAsksForIsRefused() throws IOException {
    List<Answer> answers = parent
        .send(
            Kind.CALL,
            1,
            "{\"call\": \"untag\", \"name\": \"t\", \"path\": \"" + table + "\", \"x\": 1}")
        .serve();
    assertThat(answers.get(1).message()).contains("Nobody knows 'x' here");
  }

  @Test
  void batchesBeforeTheFieldsAreRefused() throws IOException {
    parent.open(1, table, "create");
    List<Answer> answers = records(1).serve();
    assertThat(kinds(answers)).containsExactly("HELLO", "OPENED", "FAILED");
    assertThat(answers.get(2).message()).contains("before the fields");
  }
}
