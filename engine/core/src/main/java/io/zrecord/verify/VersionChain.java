package io.zrecord.verify;

import io.zrecord.findings.Finding.Kind;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.verify.CheckRun;
import io.zrecord.schema.Declarations;
import io.zrecord.schema.Identity;
import io.zrecord.storage.Storage;
import java.util.List;
import java.util.Optional;
import java.util.function.BiPredicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Checks that each version is a valid successor of the version before (FORMAT.md section 7).
 * Belongs to one thread.
 */
final class VersionChain {
  private final CheckRun run;
  private final Storage storage;
  private @Nullable Manifest before;

  VersionChain(CheckRun run, Storage storage) {
    this.run = run;
    this.storage = storage;
  }

  /**
   * Takes the versions in rising order.
   *
   * @param manifest empty if the version cannot be read; then nothing follows it
   */
  void add(Optional<Manifest> manifest) {
    Manifest last = before;
    if (manifest.isPresent() && last != null) {
      check(last, manifest.get());
    }
    before = manifest.orElse(null);
  }

  private void check(Manifest last, Manifest manifest) {
    if (!last.tableId().equals(manifest.tableId())) {
      found(
          manifest,
          "it is of table " + manifest.tableId() + ", but version " + last.version() + " is of "
              + last.tableId());
      return;
    }
    boolean isNext = manifest.version() == last.version() + 1;
    if (isNext && !manifest.previous().equals(Optional.of(last.commitId()))) {
      found(
          manifest,
          "it was made to follow commit " + manifest.previous().orElseThrow() + ", but version "
              + last.version() + " is of commit " + last.commitId());
      return;
    }
    if (last.timestampMillis() >= manifest.timestampMillis()
        || last.nextFieldId() > manifest.nextFieldId()
        || last.oldest() > manifest.oldest()) {
      found(
          manifest,
          "its time, its next field id or its oldest version is not that of a later version than "
              + last.version());
    }
    if (isNext && manifest.isCare() && !hasSameRecords(last, manifest)) {
      found(
          manifest,
          "operation '" + manifest.operation()
              + "' changes no records, but it has other shards, fields or transactions than version "
              + last.version());
    }
    if (isNext && !manifest.isBeginning() && !mayDeclare(last, manifest)) {
      found(
          manifest,
          "operation '" + manifest.operation()
              + "' changes no declarations, or not these, but it has others than version "
              + last.version());
    }
  }

  private static boolean mayDeclare(Manifest last, Manifest manifest) {
    Declarations before = last.declarations();
    Declarations after = manifest.declarations();
    boolean isSameBesideIdentities =
        before.withIdentities(List.of()).equals(after.withIdentities(List.of()));
    return switch (manifest.operation()) {
      case "declare", "overwrite", "addFields", "schema" -> hasNoNumberTwice(before, after);
      case "reserve" -> isSameBesideIdentities && areAll(before, after, Identity::follows);
      case "repair" -> isSameBesideIdentities && areAll(before, after, VersionChain::isRenewed);
      default -> before.equals(after);
    };
  }

  /** Tells whether each series that goes on does so at the same number or a later one. */
  private static boolean hasNoNumberTwice(Declarations before, Declarations after) {
    return after.identities().stream()
        .allMatch(identity -> before
            .identity(identity.fieldId())
            .filter(identity::isSameSeries)
            .map(identity::follows)
            .orElse(true));
  }

  private static boolean isRenewed(Identity after, Identity before) {
    return new Identity(
            after.fieldId(),
            before.sequence(),
            after.generation(),
            after.start(),
            after.step(),
            after.next())
        .equals(before);
  }

  private static boolean areAll(
      Declarations before, Declarations after, BiPredicate<Identity, Identity> test) {
    List<Identity> earlier = before.identities();
    List<Identity> later = after.identities();
    return earlier.size() == later.size()
        && IntStream.range(0, later.size()).allMatch(i -> test.test(later.get(i), earlier.get(i)));
  }

  private static boolean hasSameRecords(Manifest last, Manifest manifest) {
    return last.records().equals(manifest.records())
        && last.schema().equals(manifest.schema())
        && last.nextFieldId() == manifest.nextFieldId()
        && last.lists().equals(manifest.lists())
        && last.shards().equals(manifest.shards())
        && last.transactions().equals(manifest.transactions());
  }

  private void found(Manifest manifest, String text) {
    run.found(Kind.MANIFEST, storage.pathOf(ManifestNames.nameOf(manifest.version())), text);
  }
}
