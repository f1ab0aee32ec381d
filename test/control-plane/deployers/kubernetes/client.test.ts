import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { kubernetesDeployer } from '../../../../src/control-plane/deployers/kubernetes/kubernetes.ts'
import { eventually } from '../../../kit/wait.ts'
import { contextOf, deployers, deployRevision } from './drive.ts'
import { type FakeApi, fakeApis } from './fake-api.ts'

const openApi = fakeApis()
const makeDeployer = deployers()

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentwire-kubernetes-'))
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

/** What a kube config file says. */
const configFor = (api: FakeApi, cluster: object, user: object) => ({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'test',
  clusters: [{ name: 'test', cluster: { server: `${api.origin}/`, ...cluster } }],
  users: [{ name: 'test', user }],
  contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
})

function kubeConfigOf(config: object): KubeConfig {
  const kubeConfig = new KubeConfig()
  kubeConfig.loadFromString(JSON.stringify(config))
  return kubeConfig
}

/** A certificate for 127.0.0.1 that signs itself. */
function certificate() {
  const output = [
    '-nodes',
    '-days',
    '1',
    '-keyout',
    join(folder, 'key.pem'),
    '-out',
    join(folder, 'cert.pem'),
  ]
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...output, ...subject], { stdio: 'ignore' })
  return {
    key: readFileSync(join(folder, 'key.pem'), 'utf8'),
    cert: readFileSync(join(folder, 'cert.pem'), 'utf8'),
  }
}

test('a KubeConfig says where the API server is and what authenticates', async () => {
  const api = await openApi()
  const kubeConfig = kubeConfigOf(
    configFor(api, { 'insecure-skip-tls-verify': true }, { token: 'of-the-control-plane' }),
  )
  const deployer = makeDeployer(api, { client: undefined, kubeConfig })
  const { running, context } = await deployRevision(deployer, { number: 1, resourceSpec: { max_scale: 2 } })
  await eventually(() => context.text().includes('listening'))
  api.cutLogs()
  api.cluster.say(api.cluster.all('Pod')[0]!, 'still here')
  await eventually(() => context.text().includes('still here'))
  await deployer.stop(running, context)
  await deployer.destroy(context)
  expect(api.cluster.all('Deployment')).toEqual([])
  expect(new Set(api.requests.map(({ authorization }) => authorization))).toEqual(
    new Set(['Bearer of-the-control-plane']),
  )
})

test('the certificate of the API server is checked against that of the KubeConfig', async () => {
  const tls = certificate()
  const api = await openApi({ tls })
  const ca = { 'certificate-authority-data': Buffer.from(tls.cert).toString('base64') }
  const trusting = makeDeployer(api, {
    client: undefined,
    kubeConfig: kubeConfigOf(configFor(api, ca, { token: 't' })),
  })
  await deployRevision(trusting, { number: 1 })
  expect(api.cluster.all('Service')).toHaveLength(1)

  const asked = api.requests.length
  const kubeConfig = kubeConfigOf(configFor(api, {}, { token: 't' }))
  const doubting = makeDeployer(api, { client: undefined, kubeConfig, times: { retryForMs: 50 } })
  await expect(doubting.deploy(contextOf({ number: 2 }))).rejects.toThrow('the Kubernetes API did not answer')
  await trusting.close!()
  expect(api.requests.slice(asked).filter(({ method }) => method !== 'GET')).toEqual([])
})

test('without a KubeConfig the default one is loaded with the first request', async () => {
  const api = await openApi()
  const file = join(folder, 'config')
  vi.stubEnv('KUBECONFIG', file)
  const deployer = kubernetesDeployer({ namespace: 'agents', followLogs: false, times: { lookMs: 5 } })
  writeFileSync(
    file,
    JSON.stringify(configFor(api, { 'insecure-skip-tls-verify': true }, { username: 'a', password: 'b' })),
  )
  await deployRevision(deployer, { number: 1 })
  expect(api.requests[0]!.authorization).toBe(`Basic ${btoa('a:b')}`)
})

test('a KubeConfig without a cluster fails the deploy', async () => {
  const api = await openApi()
  const deployer = makeDeployer(api, {
    client: undefined,
    kubeConfig: new KubeConfig(),
    times: { retryForMs: 0 },
  })
  const error = await deployer.deploy(contextOf({ number: 1 })).catch((error) => error)
  expect(String(error.cause)).toContain('The kube config has no current cluster.')
})

test('an abort closes the connections of requests and of followed logs', async () => {
  const api = await openApi()
  const kubeConfig = kubeConfigOf(configFor(api, { 'insecure-skip-tls-verify': true }, { token: 't' }))
  const deployer = makeDeployer(api, { client: undefined, kubeConfig })
  await deployRevision(deployer, { number: 1 })
  await eventually(() => api.followed() === 1)
  await deployer.close!()
  await eventually(() => api.followed() === 0)

  api.fault = () => 'hang'
  const abort = new AbortController()
  const deploying = deployer.deploy(contextOf({ number: 2, signal: abort.signal }))
  const asked = api.requests.length
  await eventually(() => api.requests.length > asked)
  abort.abort(new Error('stop'))
  await expect(deploying).rejects.toThrow('stop')
})
