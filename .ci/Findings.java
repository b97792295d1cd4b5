import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;

/**
 * Writes on one page what the tests of a run of Maven found, and exits with 1 if a test failed or if
 * none ran: {@code java .ci/Findings.java PAGE SCALE START}. Reads the JUnit reports of every module
 * below the current directory that were written since START, such as {@code 2026-01-31T12:00:00Z}.
 * Earlier runs leave reports of tests that this run did not choose.
 */
final class Findings {
  private static final class Count {
    int tests;
    int failed;
    int skipped;
    double seconds;

    void add(Element suite) {
      tests += number(suite, "tests");
      failed += number(suite, "failures") + number(suite, "errors");
      skipped += number(suite, "skipped");
      seconds += Double.parseDouble(suite.getAttribute("time").replace(",", ""));
    }

    String row(String name) {
      return "| %s | %d | %d | %d | %.0f |".formatted(name, tests, failed, skipped, seconds);
    }

    private static int number(Element suite, String name) {
      String text = suite.getAttribute(name);
      return text.isEmpty() ? 0 : Integer.parseInt(text);
    }
  }

  private final Map<String, Count> modules = new TreeMap<>();
  private final Map<String, Double> slowest = new TreeMap<>();
  private final List<String> failures = new ArrayList<>();
  private final Count all = new Count();
  private int earlier;

  public static void main(String[] arguments) throws Exception {
    Findings findings = new Findings();
    Instant start = Instant.parse(arguments[2]);
    for (Path report : reports()) {
      if (Files.getLastModifiedTime(report).toInstant().isBefore(start)) {
        findings.earlier++;
      } else {
        findings.read(report);
      }
    }
    Path page = Path.of(arguments[0]);
    Files.createDirectories(page.toAbsolutePath().getParent());
    String text = findings.page(arguments[1]);
    Files.writeString(page, text);
    System.out.print(text);
    System.exit(findings.all.failed > 0 || findings.all.tests == 0 ? 1 : 0);
  }

  private static List<Path> reports() throws IOException {
    try (Stream<Path> files = Files.find(
        Path.of(""), 8, (path, attributes) -> path.getFileName().toString().matches("TEST-.*\\.xml"))) {
      return files.filter(path -> path.toString().contains("-reports")).sorted().toList();
    }
  }

  private void read(Path report) throws Exception {
    Element suite = DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(report.toFile())
        .getDocumentElement();
    String directory = report.getParent().getFileName().toString();
    String module = report.getParent().getParent().getParent()
        + directory.replaceFirst("(surefire|scalatest|failsafe)-reports-?", " ").stripTrailing();
    modules.computeIfAbsent(module, name -> new Count()).add(suite);
    all.add(suite);
    slowest.merge(
        suite.getAttribute("name"), Double.valueOf(suite.getAttribute("time").replace(",", "")), Double::sum);
    NodeList cases = suite.getElementsByTagName("testcase");
    for (int i = 0; i < cases.getLength(); i++) {
      readCase(module, (Element) cases.item(i));
    }
  }

  private void readCase(String module, Element test) {
    for (Node child = test.getFirstChild(); child != null; child = child.getNextSibling()) {
      if (child.getNodeName().equals("failure") || child.getNodeName().equals("error")) {
        String message = ((Element) child).getAttribute("message").lines().findFirst().orElse("");
        failures.add("- %s, `%s.%s`: %s".formatted(
            module, test.getAttribute("classname"), test.getAttribute("name"), message));
      }
    }
  }

  private String page(String scale) {
    StringBuilder page = new StringBuilder();
    page.append("# What the proofs found\n\nScale ").append(scale).append(", Java ");
    page.append(Runtime.version()).append(", ").append(Runtime.getRuntime().availableProcessors());
    page.append(" cores. Seconds are those of tests, which run side by side.\n\n");
    page.append("| module | tests | failed | skipped | seconds |\n|---|---|---|---|---|\n");
    modules.forEach((name, count) -> page.append(count.row(name)).append('\n'));
    page.append(all.row("all")).append("\n\n");
    if (earlier > 0) {
      page.append("Left out: ").append(earlier).append(" reports of earlier runs.\n\n");
    }
    page.append(failures.isEmpty() ? "No test failed.\n" : "Failed:\n\n" + String.join("\n", failures) + "\n");
    page.append("\nThe longest, in seconds:\n\n");
    slowest.entrySet().stream()
        .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
        .limit(20)
        .forEach(entry -> page.append("- %s %.0f%n".formatted(entry.getKey(), entry.getValue())));
    return page.toString();
  }
}
