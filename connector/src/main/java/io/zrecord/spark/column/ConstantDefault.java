package io.zrecord.spark.column;

import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction;
import org.apache.spark.sql.catalyst.expressions.BinaryArithmetic;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Concat;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.UnaryMinus;
import org.apache.spark.sql.catalyst.parser.ParseException;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import scala.collection.Iterable;
import scala.collection.Iterator;
import scala.runtime.BoxedUnit;

/**
 * Tells whether a default is a constant for every reader, in Java and Python as well, at any time
 * and in any session: a literal, or a number or text that is computed from literals. Other
 * functions may have another value each time, and so may a time that does not say its year, such as
 * {@code timestamp'now'} or {@code timestamp'12:00'}. Stateless.
 */
final class ConstantDefault {
  private static final String WITH_YEAR = "\\s*(?:[+-]?[0-9]{4,}[^'\"]*|(?i:epoch)\\s*)";

  private static final Pattern TEXT_WITH_YEAR = Pattern.compile(WITH_YEAR);

  /** Spark evaluates the text of such a literal when it parses the literal. */
  private static final Pattern LITERAL_WITH_YEAR =
      Pattern.compile("[^'\"]*(['\"])" + WITH_YEAR + "\\1[^'\"]*");

  /** Functions of numbers and texts that have the same value in each session. */
  private static final Set<String> PURE =
      Set.of("abs", "concat", "lower", "pow", "power", "repeat", "round", "upper");

  private final String sql;
  private final boolean isNull;

  private ConstantDefault(String sql, boolean isNull) {
    this.sql = sql;
    this.isNull = isNull;
  }

  /**
   * Tells whether the text of a default is a constant.
   *
   * @param column the type of the column
   * @param isNull whether the value is null now, which may be an error in another session
   */
  static boolean isOne(String sql, DataType column, boolean isNull) {
    try {
      Expression parsed = SparkSession.active().sessionState().sqlParser().parseExpression(sql);
      return new ConstantDefault(sql, isNull).isConstant(parsed, column);
    } catch (ParseException e) {
      return false;
    }
  }

  /**
   * Tells whether an expression is a constant.
   *
   * @param wanted the type to which a text is converted
   */
  private boolean isConstant(Expression expression, DataType wanted) {
    if (expression instanceof Cast cast) {
      return isConstant(cast.child(), isText(cast.dataType()) ? wanted : cast.dataType());
    }
    if (expression instanceof UnaryMinus minus) {
      return isConstant(minus.child(), wanted);
    }
    if (!(expression instanceof Literal literal)) {
      return !isNull && !isTime(wanted) && isComputed(expression);
    }
    if (isTime(literal.dataType())) {
      return LITERAL_WITH_YEAR.matcher(sql).matches();
    }
    return !isText(literal.dataType())
        || !isTime(wanted)
        || TEXT_WITH_YEAR.matcher(String.valueOf(literal.value())).matches();
  }

  /** Tells whether an expression is computed from literals, of which none is or becomes a time. */
  private static boolean isComputed(Expression expression) {
    boolean[] isComputed = {true};
    expression.foreach(node -> {
      isComputed[0] &= isPart(node);
      return BoxedUnit.UNIT;
    });
    return isComputed[0];
  }

  private static boolean isPart(Expression node) {
    if (node instanceof Literal literal) {
      return !isTime(literal.dataType());
    }
    if (node instanceof Cast cast) {
      return !isTime(cast.dataType());
    }
    return node instanceof UnaryMinus
        || node instanceof BinaryArithmetic
        || node instanceof Concat
        || (node instanceof UnresolvedFunction function && isPure(function));
  }

  private static boolean isPure(UnresolvedFunction function) {
    Iterator<?> name = ((Iterable<?>) function.productElement(0)).iterator();
    String first = String.valueOf(name.next());
    return !name.hasNext() && PURE.contains(first.toLowerCase(Locale.ROOT));
  }

  private static boolean isText(DataType type) {
    return SparkTypes.plainName(type).startsWith("string") || SparkTypes.isLimitedString(type);
  }

  private static boolean isTime(DataType type) {
    return type.equals(DataTypes.DateType)
        || type.equals(DataTypes.TimestampType)
        || type.equals(DataTypes.TimestampNTZType);
  }
}
