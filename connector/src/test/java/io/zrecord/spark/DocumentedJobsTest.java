package io.zrecord.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.testing.ReferenceTables;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.Model.CommandSpec;

/**
 * What docs/reference/cli.md and docs/reference/exit-codes.md say of the commands of spark-submit.
 */
class DocumentedJobsTest {
  /** Options of the command line's rebalance that the job does not take. */
  private static final Set<String> WITHOUT = Set.of("--json", "--threads");

  @Test
  void everyOptionOfRebalanceHasOneRow() {
    List<String> documented = names("Spark job Rebalance");
    documented.addAll(names("rebalance"));
    documented.removeAll(WITHOUT);
    assertThat(documented).containsExactlyInAnyOrderElementsOf(options(new RebalanceJob()));
  }

  @Test
  void everyOptionOfVerifyHasOneRow() {
    assertThat(names("Spark job Verify"))
        .containsExactlyInAnyOrderElementsOf(options(new VerifyJob()));
  }

  @Test
  void everyOptionOfSweepHasOneRow() {
    assertThat(names("Spark job Sweep"))
        .containsExactlyInAnyOrderElementsOf(options(new SweepJob()));
  }

  @Test
  void exitCodesAreThoseOfTheHelp() {
    assertThat(documentedExitCodes(2)).isEqualTo(exitCodes(new RebalanceJob()));
    assertThat(documentedExitCodes(3)).isEqualTo(exitCodes(new VerifyJob()));
    assertThat(documentedExitCodes(4)).isEqualTo(exitCodes(new SweepJob()));
  }

  private static List<String> names(String heading) {
    List<String> names = new ArrayList<>();
    ReferenceTables.of("cli")
        .rows(heading)
        .forEach(row ->
            row.names().stream().map(name -> name.replaceFirst("=.*", "")).forEach(names::add));
    return names;
  }

  private static List<String> options(Object command) {
    return CommandSpec.forAnnotatedObject(command).options().stream()
        .filter(option -> !option.usageHelp())
        .flatMap(option -> Arrays.stream(option.names()))
        .toList();
  }

  private static Map<String, String> documentedExitCodes(int column) {
    Map<String, String> codes = new TreeMap<>();
    ReferenceTables.of("exit-codes")
        .rows("Exit codes")
        .forEach(row -> codes.put(row.text(0), words(row.text(column))));
    return codes;
  }

  private static Map<String, String> exitCodes(Object command) {
    Map<String, String> codes = new TreeMap<>();
    CommandSpec.forAnnotatedObject(command)
        .usageMessage()
        .exitCodeList()
        .forEach((code, text) -> codes.put(code, words(text)));
    return codes;
  }

  private static String words(String text) {
    return text.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", " ").strip();
  }
}
