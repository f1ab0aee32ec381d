import { noProvider } from '../errors.ts'
import type { ProviderRecord } from '../records.ts'
import type { AuthContext } from '../service.ts'
import { load, PROVIDERS, tenantPartition } from '../stored.ts'

const contextOf = (providerKey: string): string => `oauth-provider:${providerKey}`

export const sealClientSecret = ({ secrets }: AuthContext, providerKey: string, value: string) =>
  secrets.seal(contextOf(providerKey), [{ name: 'client_secret', value }])

/** Undefined for a public client. */
export async function clientSecretOf(
  context: AuthContext,
  provider: ProviderRecord,
): Promise<string | undefined> {
  const platform = context.platformSecrets.get(provider.id)
  if (platform !== undefined || provider.secrets.length === 0) return platform
  const [opened] = await context.secrets.open(contextOf(provider.id), provider.secrets)
  return opened?.value
}

/** A provider of the tenant, otherwise of the platform. */
export async function providerFor(
  context: AuthContext,
  owner: string | null,
  providerId: string,
  isPlatform: boolean,
): Promise<ProviderRecord> {
  const found = isPlatform
    ? undefined
    : await load<ProviderRecord>(context.store, await tenantPartition(owner), PROVIDERS, providerId)
  const provider = found?.record ?? context.platformProviders.find((one) => one.providerId === providerId)
  if (!provider) throw noProvider(providerId)
  return provider
}
