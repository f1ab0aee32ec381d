import { createServer } from 'node:http'
import { type AgentCard, type Artifact, type Message, type Part, Role, TaskState } from '@a2a-js/sdk'
import { AgentEvent, type AgentExecutor, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server'
import { jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express'
import express from 'express'
import { answerTo } from './agents.ts'
import { serveCalls } from './process.ts'

/** The official SDK's own server for Express, in both dialects, as its samples show it. */

const textPart = (value: string): Part => ({
  content: { $case: 'text', value },
  metadata: undefined,
  filename: '',
  mediaType: 'text/plain',
})

const textIn = ({ parts }: Message): string =>
  parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('')

const executor: AgentExecutor = {
  async execute({ userMessage, taskId, contextId }, bus) {
    const about = { taskId, contextId, metadata: undefined }
    const statusOf = (state: TaskState) => ({
      state,
      message: undefined,
      timestamp: new Date().toISOString(),
    })
    bus.publish(
      AgentEvent.task({
        id: taskId,
        contextId,
        status: statusOf(TaskState.TASK_STATE_SUBMITTED),
        artifacts: [],
        history: [{ ...userMessage, role: Role.ROLE_USER }],
        metadata: undefined,
      }),
    )
    const chunks = answerTo(textIn(userMessage))
    chunks.forEach((text, at) => {
      const artifact: Artifact = {
        artifactId: `answer-${taskId}`,
        name: 'Assistant Response',
        description: '',
        parts: [textPart(text)],
        metadata: undefined,
        extensions: [],
      }
      const lastChunk = at === chunks.length - 1
      bus.publish(AgentEvent.artifactUpdate({ ...about, artifact, append: at > 0, lastChunk }))
    })
    bus.publish(AgentEvent.statusUpdate({ ...about, status: statusOf(TaskState.TASK_STATE_COMPLETED) }))
  },
  cancelTask: async () => {},
}

const interfaceOf = (protocolVersion: string) => ({
  url: 'http://127.0.0.1/',
  protocolBinding: 'JSONRPC',
  protocolVersion,
  tenant: '',
})

const card: AgentCard = {
  name: 'echo',
  description: 'Says what it is told.',
  version: '1.0.0',
  supportedInterfaces: [interfaceOf('1.0'), interfaceOf('0.3')],
  provider: undefined,
  capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false, extensions: [] },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
  signatures: [],
}

const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor)
const app = express()
app.use(
  '/a2a/echo',
  jsonRpcHandler({
    requestHandler,
    userBuilder: UserBuilder.noAuthentication,
    legacyCompat: { enabled: true },
  }),
)

await serveCalls(createServer(app))
