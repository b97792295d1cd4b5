package io.zrecord.storage.s3;

import java.time.Duration;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.SdkSystemSetting;
import software.amazon.awssdk.retries.StandardRetryStrategy;
import software.amazon.awssdk.retries.api.BackoffStrategy;

/**
 * How often a request is sent again whose failure may pass, such as that of a server that restarts.
 * A commit, or a training run of days, waits for the server instead of ending. Stateless.
 */
final class S3Retries {
  /** Seconds that the pauses before a request fails take together. */
  static final int DEFAULT_SECONDS = 120;

  private static final double FIRST_PAUSE = 0.1;
  private static final double LONGEST_PAUSE = 20;

  /** A pause is at random between a half and all of what it may be. */
  private static final double MEAN = 0.75;

  private S3Retries() {}

  static StandardRetryStrategy of(S3Options options) {
    StandardRetryStrategy strategy = AwsRetryStrategy.standardRetryStrategy();
    if (options.retrySeconds().isEmpty()
        && SdkSystemSetting.AWS_MAX_ATTEMPTS.getStringValue().isPresent()) {
      return strategy;
    }
    BackoffStrategy pauses =
        BackoffStrategy.exponentialDelayHalfJitter(seconds(FIRST_PAUSE), seconds(LONGEST_PAUSE));
    return strategy.toBuilder()
        .maxAttempts(tries(options.retrySeconds().orElse(DEFAULT_SECONDS)))
        .backoffStrategy(pauses)
        .throttlingBackoffStrategy(pauses)
        // Requests share the circuit breaker: of a hundred that fail together, it gives up most
        // after their first try.
        .circuitBreakerEnabled(false)
        .build();
  }

  private static Duration seconds(double seconds) {
    return Duration.ofMillis(Math.round(1000 * seconds));
  }

  /** Returns how often a request is sent so that the pauses take about some time. */
  static int tries(int seconds) {
    int tries = 1;
    double pause = FIRST_PAUSE;
    for (double waited = 0; waited < seconds; tries++) {
      waited += MEAN * pause;
      pause = Math.min(2 * pause, LONGEST_PAUSE);
    }
    return tries;
  }
}
