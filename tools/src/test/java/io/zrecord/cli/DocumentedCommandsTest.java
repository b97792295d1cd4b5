package io.zrecord.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.testing.ReferenceTables;
import io.zrecord.testing.ReferenceTables.Row;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The tables of docs/reference/cli.md, and what docs/reference/exit-codes.md says of the command
 * line.
 */
class DocumentedCommandsTest {
  private static final ReferenceTables PAGE = ReferenceTables.of("cli");
  private static final String COMMON = "Options of every command";

  /** Its default depends on the machine. */
  private static final Set<String> OF_THE_MACHINE = Set.of("rebalance --threads");

  @Test
  void everyCommandHasOneSection() {
    List<String> sections = PAGE.headings().stream()
        .filter(heading -> !heading.equals(COMMON) && !heading.startsWith("Spark job"))
        .toList();
    assertThat(sections).containsExactlyInAnyOrderElementsOf(commands().keySet());
  }

  @Test
  void everyOptionOfACommandHasOneRow() {
    List<String> common = namesIn(COMMON);
    assertThat(common)
        .containsExactlyInAnyOrder("-h", "--help", "--stacktrace", "--storage-option");
    commands().forEach((name, command) -> {
      List<String> options = command.options().stream()
          .flatMap(option -> Arrays.stream(option.names()))
          .filter(option -> !common.contains(option))
          .toList();
      assertThat(namesIn(name))
          .as("options of %s", name)
          .containsExactlyInAnyOrderElementsOf(options);
    });
  }

  @Test
  void everyArgumentOfAnOptionIsNamedAsInItsHelp() {
    forEachOption((command, option, row) -> {
      List<String> labels = row.names().stream()
          .filter(name -> name.contains("="))
          .map(name -> name.substring(name.indexOf('=') + 1))
          .toList();
      List<String> wanted = option.arity().max() == 0 ? List.of() : List.of(option.paramLabel());
      assertThat(labels).as("%s %s", command, option.longestName()).isEqualTo(wanted);
    });
  }

  @Test
  void everyDefaultIsThatOfTheCode() {
    forEachOption((command, option, row) -> {
      String name = command + " " + option.longestName();
      if (!OF_THE_MACHINE.contains(name) && hasDefault(option)) {
        assertThat(valueOf(row.text(1), option)).as(name).isEqualTo(option.initialValue());
      }
    });
  }

  /**
   * Otherwise the text goes on with the name of the option, which a reader of a list cannot see.
   */
  @Test
  void aTextDescribesTheArgumentOrIsAnOrderIfThereIsNone() {
    Set<String> noNouns =
        new TreeSet<>(Set.of("from", "of", "that", "to", "what", "where", "with"));
    Map<String, String> ofArguments = new TreeMap<>();
    commands()
        .forEach((name, command) -> command.options().forEach(option -> {
          String first = option.description()[0].split("[ :;,]", 2)[0];
          if (option.arity().max() == 0) {
            noNouns.add(first);
          } else {
            ofArguments.put(name + " " + option.longestName(), first);
          }
        }));
    assertThat(noNouns).contains("print", "say");
    assertThat(ofArguments).isNotEmpty().allSatisfy((option, first) -> {
      assertThat(first).isNotIn(noNouns);
    });
  }

  @Test
  void exitCodesAreThoseOfTheHelp() {
    Map<String, String> help =
        Zrecord.commandLine().getCommandSpec().usageMessage().exitCodeList();
    Map<String, String> documented = new TreeMap<>();
    ReferenceTables.of("exit-codes")
        .rows("Exit codes")
        .forEach(row -> documented.put(row.text(0), row.text(1)));
    assertThat(documented.keySet()).isEqualTo(help.keySet());
    documented.forEach((code, text) -> assertThat(words(text)).isEqualTo(words(help.get(code))));
  }

  private interface OptionCheck {
    void check(String command, OptionSpec option, Row row);
  }

  private static void forEachOption(OptionCheck check) {
    commands().forEach((name, command) -> {
      for (OptionSpec option : command.options()) {
        PAGE.rows(name).stream()
            .filter(row -> names(row).contains(option.longestName()))
            .forEach(row -> check.check(name, option, row));
      }
    });
  }

  /** The commands that do something, by their names as they are typed. */
  private static Map<String, CommandSpec> commands() {
    Map<String, CommandSpec> commands = new TreeMap<>();
    collect("", Zrecord.commandLine(), commands);
    return commands;
  }

  private static void collect(String prefix, CommandLine line, Map<String, CommandSpec> commands) {
    line.getSubcommands().forEach((name, command) -> {
      if (command.getSubcommands().isEmpty()) {
        commands.put(prefix + name, command.getCommandSpec());
      } else {
        collect(prefix + name + " ", command, commands);
      }
    });
  }

  private static List<String> namesIn(String heading) {
    List<String> names = new ArrayList<>();
    PAGE.rows(heading).forEach(row -> names.addAll(names(row)));
    return names;
  }

  private static List<String> names(Row row) {
    return row.names().stream().map(name -> name.replaceFirst("=.*", "")).toList();
  }

  private static boolean hasDefault(OptionSpec option) {
    Object value = option.initialValue();
    boolean isEmptyList = value instanceof Collection<?> list && list.isEmpty();
    boolean isEmptyMap = value instanceof Map<?, ?> map && map.isEmpty();
    return value != null && !isEmptyList && !isEmptyMap && !value.equals("");
  }

  /** A default in the page as the option would take it. */
  private static Object valueOf(String text, OptionSpec option) {
    Object value = option.initialValue();
    if (value instanceof Boolean) {
      return !text.equals("off");
    }
    if (text.equals("no bound")) {
      return Long.MAX_VALUE;
    }
    try {
      ITypeConverter<?>[] converters = option.converters();
      if (converters.length > 0) {
        return converters[0].convert(text);
      }
    } catch (Exception e) {
      throw new AssertionError(text + " is no value of " + option.longestName(), e);
    }
    if (value instanceof Enum<?> constant) {
      return Stream.of(constant.getDeclaringClass().getEnumConstants())
          .filter(known -> known.toString().toLowerCase(Locale.ROOT).equals(text))
          .findAny()
          .orElseThrow(() -> new AssertionError(text + " is no " + option.longestName()));
    }
    return value.toString().equals(text) ? value : text;
  }

  private static String words(String text) {
    return text.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", " ").strip();
  }
}
