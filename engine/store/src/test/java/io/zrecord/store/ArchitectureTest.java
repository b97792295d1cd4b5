package io.zrecord.store;

import io.zrecord.testing.ArchitectureRules;
import org.junit.jupiter.api.Test;

/** The packages of the module, and which way they may look. */
class ArchitectureTest {
  private static final ArchitectureRules RULES = new ArchitectureRules();

  @Test
  void packagesHaveNoCycles() {
    RULES.packagesHaveNoCycles();
  }

  @Test
  void noPackageIsSplit() {
    RULES.noPackageIsSplit();
  }

  @Test
  void onlyOnePackageTouchesChannelsAndMaps() {
    RULES.onlyOnePackageTouchesChannelsAndMaps();
  }

  @Test
  void theEngineKnowsNoSpark() {
    RULES.theEngineKnowsNoSpark();
  }

  @Test
  void noPublicSignatureShowsAnInternalType() {
    RULES.noPublicSignatureShowsAnInternalType();
  }
}
