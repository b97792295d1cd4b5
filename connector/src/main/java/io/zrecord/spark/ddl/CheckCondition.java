package io.zrecord.spark.ddl;

import io.zrecord.schema.FieldSpec;
import io.zrecord.spark.path.Unsupported;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.analysis.UnresolvedExtractValue;
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.LambdaFunction;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.expressions.UnresolvedNamedLambdaVariable;
import org.apache.spark.sql.catalyst.parser.ParseException;
import scala.runtime.BoxedUnit;

/**
 * The condition of a check, as far as Spark may evaluate the condition on every write: it says of a
 * record alone whether the record is allowed, whoever wrote the text. Immutable.
 *
 * @param sql the text
 * @param fieldIds numbers of the fields that the text names
 */
public record CheckCondition(String sql, List<Integer> fieldIds) {
  /** Spark makes a constant of Java of the text. */
  private static final int MAX_LENGTH = 10_000;

  private static final String SPARK = "org.apache.spark.sql.catalyst.expressions.";

  public CheckCondition {
    fieldIds = List.copyOf(fieldIds);
  }

  /**
   * Parses a condition.
   *
   * @throws UnsupportedOperationException if Spark must not evaluate the text
   */
  public static CheckCondition of(String text, FieldNames names) {
    String line = onOneLine(text);
    requireShowable("the CHECK (" + shortened(line) + ")", line);
    Walk walk = new Walk(line, names);
    walk.over(parsed(line));
    return new CheckCondition(line, List.copyOf(walk.fieldIds));
  }

  /** Tells whether Spark may evaluate a check. */
  static boolean isEvaluable(io.zrecord.schema.Constraint check, FieldNames names) {
    try {
      requireShowable("the name", check.name());
      return of(check.sql(), names).sql().equals(check.sql());
    } catch (UnsupportedOperationException e) {
      return false;
    }
  }

  /**
   * Replaces ends of lines and tabs by spaces, except in quotes, where they mean themselves.
   *
   * @throws UnsupportedOperationException if there is a comment, which an end of line ends
   */
  private static String onOneLine(String text) {
    StringBuilder line = new StringBuilder();
    boolean isQuoted = false;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (isQuoted && c == '\\' && i + 1 < text.length()) {
        line.append(c).append(text.charAt(++i));
        continue;
      }
      if (!isQuoted && text.startsWith("--", i)) {
        throw unsupported(text, "has a comment");
      }
      isQuoted ^= c == '\'';
      line.append(!isQuoted && (c == '\n' || c == '\r' || c == '\t') ? ' ' : c);
    }
    return line.toString();
  }

  /**
   * Refuses a text that Spark cannot put into the Java code that it generates for a check: Spark
   * does not escape the text.
   */
  static void requireShowable(String what, String text) {
    boolean isShowable = text.length() <= MAX_LENGTH;
    for (int i = 0; isShowable && i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '\\') {
        i++;
        isShowable = i < text.length()
            && (text.charAt(i) == '\'' || text.charAt(i) == '\\')
            && !text.startsWith("\\u", i);
      } else {
        isShowable = c != '"' && !Character.isISOControl(c);
      }
    }
    if (!isShowable) {
      throw Unsupported.operation(
          what + ", which Spark cannot write into its generated code",
          "use at most 10,000 characters, no double quote, no control character, and a backslash"
              + " only in \\\\ and \\'");
    }
  }

  private static Expression parsed(String line) {
    try {
      return SparkSession.active().sessionState().sqlParser().parseExpression(line);
    } catch (ParseException e) {
      throw unsupported(line, "Spark cannot parse");
    }
  }

  private static UnsupportedOperationException unsupported(String line, String why) {
    return Unsupported.operation(
        "the CHECK (" + shortened(line) + "), which " + why,
        "use conditions of the columns of a record, and functions of Spark whose result depends on"
            + " their arguments only");
  }

  private static String shortened(String text) {
    return text.length() <= 200 ? text : text.substring(0, 200) + "…";
  }

  /** Collects the fields of a condition, and refuses what a check must not have. */
  private static final class Walk {
    private final String text;
    private final FieldNames names;
    private final TreeSet<Integer> fieldIds = new TreeSet<>();

    Walk(String text, FieldNames names) {
      this.text = text;
      this.names = names;
    }

    void over(Expression condition) {
      condition.foreach(node -> {
        visit(node);
        return BoxedUnit.UNIT;
      });
    }

    private void visit(Expression node) {
      if (node instanceof PlanExpression) {
        throw unsupported(text, "has a subquery");
      } else if (node instanceof UnresolvedFunction function) {
        requireAllowed(NameParts.of(function.productElement(0)));
      } else if (node instanceof UnresolvedAttribute attribute) {
        String name = NameParts.of(attribute.productElement(0)).get(0);
        fieldIds.add(find(name)
            .orElseThrow(
                () -> unsupported(text, "names '" + name + "', and there is no such column"))
            .id());
      } else if (node instanceof UnresolvedNamedLambdaVariable variable) {
        find(NameParts.of(variable.productElement(0)).get(0))
            .ifPresent(field -> fieldIds.add(field.id()));
      } else if (node instanceof LambdaFunction lambda) {
        requireEvaluable(lambda);
      } else if (!(node instanceof UnresolvedExtractValue)) {
        requireAllowed(node.getClass().getName());
      }
    }

    private Optional<FieldSpec> find(String name) {
      return names.find(name);
    }

    private void requireAllowed(List<String> function) {
      String name = String.join(".", function);
      if (function.size() != 1 || !CheckFunctions.isAllowed(name)) {
        throw unsupported(text, "calls " + name);
      }
    }

    /** Refuses names that are computed, stars, and the time, the user and the like. */
    private void requireAllowed(String expression) {
      String name = expression.startsWith(SPARK) ? expression.substring(SPARK.length()) : "";
      if (name.isEmpty() || name.indexOf('.') >= 0 || name.startsWith("Current")) {
        throw unsupported(text, "has a " + expression.substring(expression.lastIndexOf('.') + 1));
      }
    }

    /** Spark looks for elements that a message shows outside of the function. */
    private void requireEvaluable(LambdaFunction lambda) {
      lambda.foreach(node -> {
        if (node instanceof UnresolvedExtractValue) {
          throw unsupported(text, "takes an element by [ ] within ->");
        }
        return BoxedUnit.UNIT;
      });
    }
  }
}
