package io.zrecord.spark.column;

import java.util.regex.Pattern;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction;
import org.apache.spark.sql.catalyst.expressions.BinaryArithmetic;
import org.apache.spark.sql.catalyst.expressions.Cast;
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
 * Tells whether a default is a constant for every reader, in Java and Python as well, and at any
 * time: a literal, or arithmetic and {@linkplain PureFunctions pure functions} of literals. Other
 * functions may have another value each time, and so may a time that does not say its year, such as
 * {@code timestamp'now'} or {@code timestamp'12:00'}. Stateless.
 */
final class ConstantDefault {
  private static final String WITH_YEAR = "\\s*(?:[+-]?[0-9]{4,}[^'\"]*|(?i:epoch)\\s*)";

  private static final Pattern TEXT_WITH_YEAR = Pattern.compile(WITH_YEAR);

  /** Spark evaluates the text of such a literal when it parses the literal. */
  private static final Pattern LITERAL_WITH_YEAR =
      Pattern.compile("[^'\"]*(['\"])" + WITH_YEAR + "\\1[^'\"]*");

  /** A text of which Spark may make a time that is another one each day. */
  private static final Pattern TEXT_OF_TODAY =
      Pattern.compile("(?is)\\s*(?:now|today|tomorrow|yesterday)\\b.*|[^:]*[0-9]:.*");

  private final String sql;

  private ConstantDefault(String sql) {
    this.sql = sql;
  }

  /**
   * Tells whether the text of a default is a constant.
   *
   * @param column the type of the column
   */
  static boolean isOne(String sql, DataType column) {
    try {
      Expression parsed = SparkSession.active().sessionState().sqlParser().parseExpression(sql);
      return new ConstantDefault(sql).isConstant(parsed, column);
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
      return isOfConstants(expression);
    }
    if (isTime(literal.dataType())) {
      return LITERAL_WITH_YEAR.matcher(sql).matches();
    }
    return !isText(literal.dataType())
        || !isTime(wanted)
        || TEXT_WITH_YEAR.matcher(String.valueOf(literal.value())).matches();
  }

  private boolean isOfConstants(Expression expression) {
    boolean[] isConstant = {true};
    expression.foreach(node -> {
      isConstant[0] &= isConstantPart(node);
      return BoxedUnit.UNIT;
    });
    return isConstant[0];
  }

  private boolean isConstantPart(Expression node) {
    if (node instanceof Literal literal) {
      return isTime(literal.dataType())
          ? LITERAL_WITH_YEAR.matcher(sql).matches()
          : !isText(literal.dataType())
              || !TEXT_OF_TODAY.matcher(String.valueOf(literal.value())).matches();
    }
    return node instanceof Cast
        || node instanceof UnaryMinus
        || node instanceof BinaryArithmetic
        || node instanceof UnresolvedFunction function && isPure(function);
  }

  private static boolean isPure(UnresolvedFunction function) {
    Iterator<?> name = ((Iterable<?>) function.productElement(0)).iterator();
    String first = String.valueOf(name.next());
    return !name.hasNext() && PureFunctions.contains(first);
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
