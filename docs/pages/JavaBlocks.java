import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import jdk.jshell.EvalException;
import jdk.jshell.JShell;
import jdk.jshell.Snippet;
import jdk.jshell.SnippetEvent;
import jdk.jshell.SourceCodeAnalysis.CompletionInfo;

/** Runs blocks of Java, one after the other, in one shell, as docs/pages/run.py asks for. */
public final class JavaBlocks {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** What pages leave out: all packages that are API. */
  private static final List<String> IMPORTS = List.of(
      "java.nio", "java.nio.file", "java.time", "java.util", "io.zrecord", "io.zrecord.errors",
      "io.zrecord.changes", "io.zrecord.feed", "io.zrecord.inspect", "io.zrecord.npy", "io.zrecord.rebalance",
      "io.zrecord.rebalance.order", "io.zrecord.repair", "io.zrecord.sampler", "io.zrecord.scan",
      "io.zrecord.schema", "io.zrecord.shard", "io.zrecord.storage", "io.zrecord.storage.local",
      "io.zrecord.store", "io.zrecord.table", "io.zrecord.verify", "io.zrecord.warehouse");

  private JavaBlocks() {}

  public static void main(String[] arguments) throws IOException {
    PrintStream answers = System.out;
    BufferedReader requests =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (JShell shell = JShell.builder().executionEngine("local").build()) {
      shell.addToClasspath(System.getProperty("java.class.path"));
      for (String name : IMPORTS) {
        shell.eval("import " + name + ".*;");
      }
      for (String line = requests.readLine(); line != null; line = requests.readLine()) {
        JsonNode request = JSON.readTree(line);
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        boolean isDone = run(shell, request.get("code").asText());
        answers.println(JSON.writeValueAsString(
            Map.of("ok", isDone, "output", printed.toString(StandardCharsets.UTF_8))));
        answers.flush();
      }
    }
  }

  /** Runs the statements of a block; prints what is wrong with the first that fails. */
  private static boolean run(JShell shell, String code) {
    String rest = code;
    while (!rest.isBlank()) {
      CompletionInfo next = shell.sourceCodeAnalysis().analyzeCompletion(rest);
      if (!next.completeness().isComplete()) {
        System.out.println("is no whole statement: " + rest);
        return false;
      }
      for (SnippetEvent event : shell.eval(next.source())) {
        if (event.status() != Snippet.Status.VALID && event.status() != Snippet.Status.OVERWRITTEN) {
          shell.diagnostics(event.snippet())
              .forEach(wrong -> System.out.println(wrong.getMessage(null)));
          System.out.println(event.status() + ": " + event.snippet().source());
          return false;
        }
        if (event.exception() != null) {
          String kind = event.exception() instanceof EvalException thrown
              ? thrown.getExceptionClassName()
              : event.exception().getClass().getName();
          System.out.println(kind + ": " + event.exception().getMessage());
          return false;
        }
      }
      rest = next.remaining();
    }
    return true;
  }
}
