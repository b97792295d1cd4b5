package io.zrecord.spark.ddl

import java.time.Duration

/** Lets statements that change a table try for an hour, however many come at once. */
object PatientStatements {
  def during[A](action: => A): A = {
    val before = Attempts.patience
    Attempts.patience = Duration.ofHours(1)
    try action
    finally Attempts.patience = before
  }
}
