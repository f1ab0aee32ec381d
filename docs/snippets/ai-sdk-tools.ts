// #region client-tools
import { aiSdk } from 'agentwire/ai-sdk'

export const chats = aiSdk({
  clientTools: [
    {
      type: 'function',
      function: {
        name: 'get_location',
        description: 'Returns where the user is.',
        parameters: { type: 'object', properties: {} },
      },
    },
  ],
})
// #endregion
