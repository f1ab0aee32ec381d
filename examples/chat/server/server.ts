import { createAgentServer } from 'agentwire'
import { agUi } from 'agentwire/ag-ui'
import { aiSdk } from 'agentwire/ai-sdk'
import { langgraph } from 'agentwire/langgraph'
import { mcp } from 'agentwire/mcp'
import { cachedServer } from 'agentwire/next'
import { openAi } from 'agentwire/openai'
import { openStorage } from 'agentwire/storage'
import { HAS_DEVTOOLS } from '../lib/devtools.ts'
import { echoAgent } from './agents/echo.ts'
import { deepAgent, secretaryAgent } from './agents/graphs.ts'
import { controlPlane } from './control-plane.ts'
import { chooseModels } from './models/models.ts'
import { titles } from './titles.ts'

const storage = await openStorage(process.env.STORAGE_URL || 'memory:')
const models = await chooseModels(process.env)
const agents = {
  agent: langgraph(deepAgent(models)),
  secretary: langgraph(secretaryAgent(models)),
  echo: echoAgent(),
}

export const server = cachedServer(
  () => storage,
  (storage) =>
    createAgentServer({
      agents,
      defaultAgent: 'agent',
      ...storage,
      // The demo is built for production, but still shows why a run has failed.
      errorMessage: process.env.DEMO === '1' || undefined,
      controlPlane: controlPlane(),
      devtools: HAS_DEVTOOLS,
      faces: [aiSdk(), agUi(), mcp(), openAi(), titles(models.titler)],
    }),
)
