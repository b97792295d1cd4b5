package io.zrecord;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.properties.HasName;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import io.zrecord.verify.StoreState;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The packages of the engine and which way they may look. */
class ArchitectureTest {
  private static final JavaClasses ENGINE = new ClassFileImporter()
      .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
      .importPackages("io.zrecord");

  @Test
  void packagesHaveNoCycles() {
    slices().matching("io.(**)").should().beFreeOfCycles().check(ENGINE);
  }

  @Test
  void schemasAndErrorsStandAlone() {
    classes()
        .that()
        .resideInAnyPackage("io.zrecord.schema", "io.zrecord.errors")
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage("io.zrecord.schema", "io.zrecord.errors", "java..", "org.jspecify..")
        .check(ENGINE);
  }

  @Test
  void samplersStandAlone() {
    classes()
        .that()
        .resideInAPackage("io.zrecord.sampler")
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage("io.zrecord.sampler", "java..", "org.jspecify..")
        .check(ENGINE);
  }

  @Test
  void theFormatDoesNoInputAndOutput() {
    noClasses()
        .that()
        .resideInAPackage("io.zrecord.internal.format")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "java.nio.channels", "java.nio.file..", "io.zrecord.internal.io", "io.zrecord.storage")
        .check(ENGINE);
  }

  @Test
  void onlyOnePackageTouchesChannelsAndMaps() {
    noClasses()
        .that()
        .resideOutsideOfPackage("io.zrecord.internal.io")
        .should()
        .dependOnClassesThat()
        // What somebody else opened may be written to, and any failure be told.
        .haveNameMatching(
            "java\\.nio\\.(channels\\.(?!GatheringByteChannel$|ClosedByInterruptException$).*|MappedByteBuffer)")
        .check(ENGINE);
  }

  @Test
  void theEngineKnowsNoSpark() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("org.apache.spark..", "org.apache.hadoop..", "scala..")
        .check(ENGINE);
  }

  /** Stores and feeds become modules of their own, which find their way in by a service. */
  @Test
  void theRestKnowsNeitherStoresNorFeeds() {
    DescribedPredicate<JavaClass> ofStores = JavaClass.Predicates.resideInAPackage(
            "io.zrecord.internal.store..")
        .or(named(
            "io\\.zrecord(\\.rebalance)?\\.(Store.*|RecordStore|RecordValues|TemporaryTable)"))
        .or(named("io\\.zrecord\\.verify\\.(Store.*|Journal.*|Live.*|Carried.*|EntryFiles)"))
        .or(named("io\\.zrecord\\.repair\\.(Store.*|Journal.*|DamagedEntries)"));
    DescribedPredicate<JavaClass> ofFeeds =
        JavaClass.Predicates.resideInAnyPackage("io.zrecord.feed..", "io.zrecord.sampler..");
    DescribedPredicate<JavaClass> permutations =
        named("io\\.zrecord\\.sampler\\.(Mixing|Permutation)");
    noClasses()
        .that(DescribedPredicate.not(ofStores.or(ofFeeds)))
        .should()
        .dependOnClassesThat(ofStores.or(ofFeeds.and(DescribedPredicate.not(permutations))))
        .check(ENGINE);
    noClasses().that(ofFeeds).should().dependOnClassesThat(ofStores).check(ENGINE);
  }

  /** Matches a class by a regular expression for its name, and the classes in it. */
  private static DescribedPredicate<JavaClass> named(String expression) {
    return HasName.Predicates.nameMatching(expression + "(\\$.*)?").forSubtype();
  }

  @Test
  void whatClustersUseIsMarkedAndPublic() {
    classes()
        .that()
        .areAnnotatedWith(Spi.class)
        .should()
        .bePublic()
        .andShould()
        .resideOutsideOfPackage("io.zrecord.internal..")
        .check(ENGINE);
  }

  @Test
  void noPublicSignatureShowsAnInternalType() {
    methods()
        .that()
        .arePublic()
        .and()
        .areDeclaredInClassesThat()
        .arePublic()
        .and()
        .areDeclaredInClassesThat()
        .resideOutsideOfPackage("io.zrecord.internal..")
        .and()
        // A repair goes by what the check read.
        .areNotDeclaredIn(StoreState.class)
        .should(notShowInternalTypes())
        .check(ENGINE);
  }

  private static ArchCondition<JavaMethod> notShowInternalTypes() {
    return new ArchCondition<>("not show types of io.zrecord.internal") {
      @Override
      public void check(JavaMethod method, ConditionEvents events) {
        boolean shows = Stream.concat(
                Stream.of(method.getRawReturnType()), method.getRawParameterTypes().stream())
            .anyMatch(type -> type.getPackageName().startsWith("io.zrecord.internal"));
        if (shows) {
          events.add(SimpleConditionEvent.violated(method, method.getDescription()));
        }
      }
    };
  }
}
