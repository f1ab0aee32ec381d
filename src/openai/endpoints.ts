export { postChat } from './chat/post.ts'
export {
  deleteConversation,
  getConversation,
  listItems,
  patchConversation,
  postConversation,
} from './conversations.ts'
export { getModel, listModels } from './models.ts'
export { cancelResponse, deleteResponse, getResponse } from './responses/kept.ts'
export { postResponse } from './responses/post.ts'
