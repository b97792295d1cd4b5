package io.zrecord.spark.ddl;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.parser.ParseException;
import scala.collection.Iterable;
import scala.collection.Iterator;

/** Takes names apart that have several parts, such as {@code catalog.space.table}. Stateless. */
public final class NameParts {
  private NameParts() {}

  /** Returns the parts that Spark keeps in a sequence of Scala. */
  static List<String> of(Object names) {
    List<String> parts = new ArrayList<>();
    Iterator<?> iterator = ((Iterable<?>) names).iterator();
    while (iterator.hasNext()) {
      parts.add(String.valueOf(iterator.next()));
    }
    return parts;
  }

  /** Returns the parts of a name in SQL; empty if Spark cannot parse the text as a name. */
  public static Optional<List<String>> parsed(String text) {
    try {
      return SparkSession.active().sessionState().sqlParser().parseExpression(text)
              instanceof UnresolvedAttribute name
          ? Optional.of(of(name.productElement(0)))
          : Optional.empty();
    } catch (ParseException e) {
      return Optional.empty();
    }
  }

  /** Returns a part as SQL has it. */
  static String quoted(String part) {
    return part.matches("[A-Za-z_][A-Za-z0-9_]*") ? part : "`" + part.replace("`", "``") + "`";
  }
}
