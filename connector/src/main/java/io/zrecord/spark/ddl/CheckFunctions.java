package io.zrecord.spark.ddl;

import java.util.Locale;
import java.util.Set;

/**
 * Knows the functions of Spark that a check may call: those whose result depends on their arguments
 * only, and that reach nothing outside of a query. A check is a text in a file of the table, which
 * anybody may have written, and Spark has functions that call any method of Java. Stateless.
 */
final class CheckFunctions {
  private static final Set<String> ALLOWED = Set.of((
      // Conditions.
      "between coalesce equal_null greatest if ifnull in isnan isnotnull isnull least nanvl"
          + " not nullif nvl nvl2"
          // Numbers.
          + " abs acos asin atan atan2 bit_count bround cbrt ceil ceiling cos degrees exp"
          + " expm1 floor hypot ln log log10 log1p log2 mod negative pmod positive pow power"
          + " radians rint round sign signum sin sqrt tan try_add try_divide try_multiply"
          + " try_subtract"
          // Texts.
          + " ascii bit_length btrim char_length character_length concat concat_ws contains"
          + " crc32 endswith find_in_set hex ilike initcap instr lcase left len length"
          + " levenshtein like locate lower ltrim luhn_check md5 octet_length overlay"
          + " position regexp regexp_count regexp_extract regexp_instr regexp_like"
          + " regexp_replace regexp_substr replace reverse right rlike rtrim sha sha1 sha2"
          + " split split_part startswith substr substring substring_index translate trim"
          + " ucase unhex upper"
          // Times.
          + " add_months date_add date_diff date_part date_sub date_trunc dateadd datediff"
          + " datepart day dayofmonth dayofweek dayofyear extract hour last_day make_date"
          + " minute month months_between quarter second trunc unix_date unix_micros"
          + " unix_millis unix_seconds weekday weekofyear year"
          // Arrays, maps and structs.
          + " aggregate array array_contains array_distinct array_max array_min"
          + " array_position array_size arrays_overlap cardinality element_at exists filter"
          + " forall get map_contains_key map_keys map_values named_struct reduce size slice"
          + " struct transform"
          // Types.
          + " bigint binary boolean date decimal double float int smallint string timestamp"
          + " tinyint")
      .split(" "));

  private CheckFunctions() {}

  static boolean isAllowed(String name) {
    return ALLOWED.contains(name.toLowerCase(Locale.ROOT));
  }
}
