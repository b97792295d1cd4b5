package io.zrecord.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.cli.console.ExitCodes;
import io.zrecord.feed.spec.SamplerName;
import io.zrecord.feed.spec.SamplerParameter;
import io.zrecord.feed.spec.SamplerSpec;
import io.zrecord.sampler.Remainder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** How the command refuses what it cannot feed; what it streams is tested by those who read it. */
class FeedCommandTest {
  private static final Set<String> OF_PARTS =
      Set.of("epoch", "startPosition", "rank", "worldSize", "remainder");

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
    refuses("no sampler 'block'; use one of sequential, sliding", "--sampler", "block");
    refuses(
        "needs --block-length, --mixed; add --mixed",
        "--sampler",
        "blockShuffle",
        "--block-length",
        3);
    refuses(
        "--window, --labels-field do not go with the sampler shuffle",
        "--labels-field",
        "text",
        "--window",
        3);
    refuses("--epoch has the value '-1'; use a whole number from 0 on", "--epoch", "-1");
    refuses("--seed has the value 'x'", "--seed", "x");
    refuses("numSamples is 3, but an epoch of shuffle(2, seed 42) has 2", "--num-samples", 3);
    refuses("'keep'; use one of [drop, pad, uneven]", "--remainder", "keep");
    refuses("from 0 to 3", "--sampler", "sequential", "--to", 3);
    refuses("'text' of type utf8", "--sampler", "weighted", "--weights-field", "text");
    refuses("record 1 has no value", "--sampler", "weighted", "--weights-field", "weight");
    refuses("record 0 has 0.5, and labels", "--sampler", "balanced", "--labels-field", "weight");
    Path list = Files.writeString(directory.resolve("list"), "1\n0\n2\n");
    refuses("'2' in line 3 of " + list, "--indices", list);
  }

  @Test
  void optionsThatCannotBe() {
    refuses("--share FILE and --messages FILE go together", "--share", directory.resolve("memory"));
    refuses("say longest, a length, or cut:", "--pad", "text=wide");
    refuses("Rank 2 of 2 is not possible", "--rank", 2, "--world-size", 2);
    refuses("--epochs is -1", "--epochs", -1);
    refuses("0 to 2", "--start-position", 3);
    refuses("stopBeforeBatch is 0", "--stop-before-batch", 0);
    refuses("maxBytes is 0", "--max-bytes", 0);
    refuses("loaderPriority is 11", "--loader-priority", 11);
    refuses("Cannot read the state", "--resume", "{}");
  }

  @Test
  void everyParameterOfSamplersIsAnOption() {
    Set<String> flags = Stream.of(SamplerParameter.values())
        .map(SamplerParameter::flag)
        .collect(Collectors.toCollection(TreeSet::new));
    flags.add("--indices");
    Set<String> options = new CommandLine(new SamplerFlags())
        .getCommandSpec().options().stream()
            .map(CommandLine.Model.OptionSpec::longestName)
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(options).isEqualTo(flags);
    assertThat(
            Zrecord.commandLine().getSubcommands().get("feed").getCommandSpec().optionsMap())
        .containsKeys(flags.toArray(String[]::new));
  }

  @Test
  void everyParameterReachesItsSampler() {
    for (SamplerName name : SamplerName.values()) {
      List<String> words = new ArrayList<>(List.of("--sampler=" + name, "--batch-size=9"));
      Map<String, String> values = new HashMap<>();
      for (SamplerParameter parameter : name.parameters()) {
        String value = parameter.text().endsWith("Field") ? "weight" : "9";
        if (!OF_PARTS.contains(parameter.text())) {
          values.put(parameter.text(), value);
        }
        if (!"remainder".equals(parameter.text())) {
          words.add(parameter.flag() + "=" + value);
        }
      }
      SamplerFlags options = new SamplerFlags();
      new CommandLine(options)
          .setOverwrittenOptionsAllowed(true)
          .parseArgs(words.toArray(String[]::new));
      assertThat(options.spec()).isEqualTo(SamplerSpec.of(name.toString(), values));
      assertThat(List.of(
              options.epoch(), options.startPosition(), options.rank(), options.worldSize()))
          .containsOnly(9L);
      assertThat(options.remainder()).isEqualTo(Remainder.DROP);
    }
  }
}
