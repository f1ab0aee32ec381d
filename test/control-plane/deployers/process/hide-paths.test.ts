import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DeployError } from '../../../../src/control-plane/deployers/deployer.ts'
import { pathHider } from '../../../../src/control-plane/deployers/process/dirs.ts'
import { deployRequest, phaseContext } from '../context.ts'

const dir = join(tmpdir(), 'agentwire-hidden')
const source = `${dir}/deployments/d-1/r-1/source`

test.each([
  [`Cannot find module '${source}/graph.js'`, "Cannot find module './graph.js'"],
  [`at file://${source}/src/a.js:1:2`, 'at file://./src/a.js:1:2'],
  [`ENOENT: ${source}`, 'ENOENT: .'],
  [`${dir}/deployments/d-2/r-1/unfinished`, '…/deployments/d-2/r-1/unfinished'],
  [`${process.cwd()}/dist/cli.js and ${homedir()}/.npmrc`, '…/dist/cli.js and …/.npmrc'],
  ['GET /threads/search of https://host/a/b', 'GET /threads/search of https://host/a/b'],
  [`${dir}-other/a`, `${dir}-other/a`],
])('%s is told as %s, in logs and in reasons', async (text, shown) => {
  const { context, lines } = phaseContext(deployRequest({}))
  const failing = pathHider(dir)(async ({ log }) => {
    log(text)
    throw new DeployError(text)
  })
  await expect(failing(context)).rejects.toThrow(new DeployError(shown))
  expect(lines).toEqual([shown])
})
