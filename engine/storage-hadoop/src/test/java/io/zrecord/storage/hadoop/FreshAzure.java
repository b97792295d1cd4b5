package io.zrecord.storage.hadoop;

import io.zrecord.storage.Storage;
import io.zrecord.testing.FaultyProxy;
import java.io.IOException;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Gives each test an account of Azure of its own, with a hierarchical namespace, and a proxy before
 * it.
 */
final class FreshAzure implements BeforeEachCallback, AfterEachCallback {
  private FakeAzure account;
  private FaultyProxy proxy;

  @Override
  public void beforeEach(ExtensionContext context) throws IOException {
    account = FakeAzure.hierarchical();
    proxy = FaultyProxy.before(account.endpoint());
  }

  @Override
  public void afterEach(ExtensionContext context) throws IOException {
    proxy.close();
    account.close();
  }

  FakeAzure account() {
    return account;
  }

  FaultyProxy proxy() {
    return proxy;
  }

  /** Opens a storage that reaches the account through the proxy. */
  Storage storage(String directory) {
    return FakeAzure.storage(proxy.endpoint(), directory);
  }
}
