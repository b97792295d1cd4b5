package io.zrecord.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How the command refuses what it cannot feed; what it streams is tested by those who read it. */
class FeedCommandTest {
  @TempDir
  Path directory;

  private Path store;

  @BeforeEach
  void create() {
    store = directory.resolve("store");
    assertThat(Cli.run("create", store, "--field", "text:utf8", "--field", "weight:f32")
            .exitCode())
        .isZero();
    assertThat(Cli.run("append", store, "--set", "weight=0.5").exitCode()).isZero();
    assertThat(Cli.run("append", store, "--set", "text=a").exitCode()).isZero();
  }

  private void refuses(String reason, Object... options) {
    Object[] words = new Object[options.length + 2];
    words[0] = "feed";
    words[1] = store;
    System.arraycopy(options, 0, words, 2, options.length);
    Cli.Said said = Cli.run(words);
    assertThat(said.err()).contains(reason).hasLineCount(1);
    assertThat(said.exitCode()).isEqualTo(ExitCodes.USAGE);
  }

  @Test
  void samplersThatCannotBe() throws Exception {
    refuses("--sampler block needs --block-length", "--sampler", "block");
    refuses("--sampler shuffle does not take --by, --draw", "--by", "text", "--draw", 3);
    refuses("'text' of type utf8", "--sampler", "weighted", "--by", "text");
    refuses("record 1 has no value", "--sampler", "weighted", "--by", "weight");
    refuses("record 0 has 0.5, and a class is", "--sampler", "balanced", "--by", "weight");
    Path list = Files.writeString(directory.resolve("list"), "1\n0\n2\n");
    refuses("'2' in line 3 of " + list, "--indices", list);
  }

  @Test
  void optionsThatCannotBe() {
    refuses("--share FILE and --messages FILE go together", "--share", directory.resolve("memory"));
    refuses("say longest, a length, or cut:", "--pad", "text=wide");
    refuses("Rank 2 of 2 is not possible", "--rank", 2, "--world-size", 2);
    refuses("Cannot read the state", "--resume", "{}");
  }
}
