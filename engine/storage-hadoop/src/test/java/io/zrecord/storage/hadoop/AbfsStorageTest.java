package io.zrecord.storage.hadoop;

import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The contract of storages on an account of Azure with a hierarchical namespace, by ABFS. */
final class AbfsStorageTest extends AbfsContractTest {
  @RegisterExtension
  private final FreshAzure azure = new FreshAzure();

  @Override
  String location() {
    return FakeAzure.container(azure.account().endpoint());
  }

  @Override
  Configuration settings() {
    return FakeAzure.settings(azure.account().endpoint());
  }
}
