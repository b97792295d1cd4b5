package io.zrecord.spark.column;

import java.util.regex.Pattern;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.UnaryMinus;
import org.apache.spark.sql.catalyst.parser.ParseException;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/**
 * Tells whether a default is a constant for every reader, in Java and Python as well, and at any
 * time: a function may have another value each time, and so may a time that does not say its year,
 * such as {@code timestamp'now'} or {@code timestamp'12:00'}. Stateless.
 */
final class ConstantDefault {
  private static final String WITH_YEAR = "\\s*(?:[+-]?[0-9]{4,}[^'\"]*|(?i:epoch)\\s*)";

  private static final Pattern TEXT_WITH_YEAR = Pattern.compile(WITH_YEAR);

  /** Spark evaluates the text of such a literal when it parses the literal. */
  private static final Pattern LITERAL_WITH_YEAR =
      Pattern.compile("[^'\"]*(['\"])" + WITH_YEAR + "\\1[^'\"]*");

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
      return false;
    }
    if (isTime(literal.dataType())) {
      return LITERAL_WITH_YEAR.matcher(sql).matches();
    }
    return !isText(literal.dataType())
        || !isTime(wanted)
        || TEXT_WITH_YEAR.matcher(String.valueOf(literal.value())).matches();
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
