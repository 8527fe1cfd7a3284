-- Asks the language server through Neovim's own client, as keys of a user do; test_nvim.py reads the answers:  nvim --headless … -c 'luafile nvim_asks.lua'
-- The file is open. ASKS names a file with JSON: the text of the file's mistake, and places {line, column}, counted from 1 and 0. ANSWERS names the output.
local asks = vim.fn.json_decode(vim.fn.readfile(vim.env.ASKS))
local answers = { steps = {} }

local function wait(what, condition)
  if not vim.wait(20000, condition, 20) then
    error("waited in vain for " .. what)
  end
end

local function go(place)
  vim.api.nvim_win_set_cursor(0, place)
end

local function diagnostics()
  return vim.tbl_map(function(d)
    return { line = d.lnum, first = d.col, last = d.end_col, message = d.message, severity = d.severity, source = d.source }
  end, vim.diagnostic.get(0))
end

local function run()
  answers.filetype = vim.bo.filetype
  answers.commentstring = vim.bo.commentstring
  wait("the client", function()
    local clients = vim.lsp.buf_get_clients(0)
    return next(clients) ~= nil and select(2, next(clients)).initialized
  end)
  answers.client = select(2, next(vim.lsp.buf_get_clients(0))).name

  wait("a diagnostic", function() return #vim.diagnostic.get(0) > 0 end)
  answers.wrong = diagnostics()

  -- The action that the server offers for the mistake.
  go(asks.mistake)
  local range = vim.lsp.util.make_range_params()
  range.context = { diagnostics = vim.lsp.diagnostic.get_line_diagnostics(0, asks.mistake[1] - 1) }
  local _, actions = next(vim.lsp.buf_request_sync(0, "textDocument/codeAction", range, 20000))
  answers.action = actions.result[1].title
  vim.lsp.util.apply_workspace_edit(actions.result[1].edit, "utf-16")
  wait("no diagnostic", function() return #vim.diagnostic.get(0) == 0 end)
  answers.mended = vim.api.nvim_buf_get_lines(0, 0, -1, true)

  -- The window that a user sees.
  go(asks.hover)
  vim.lsp.buf.hover()
  local window
  wait("the window of hover", function()
    for _, each in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(each).relative ~= "" then
        window = each
      end
    end
    return window ~= nil
  end)
  answers.hover = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, true)
  vim.api.nvim_win_close(window, true)

  -- The cursor moves to the definition.
  go(asks.use)
  vim.lsp.buf.definition()
  wait("the definition", function() return not vim.deep_equal(vim.api.nvim_win_get_cursor(0), asks.use) end)
  answers.definition = vim.api.nvim_win_get_cursor(0)

  go(asks.completion)
  local _, items = next(vim.lsp.buf_request_sync(0, "textDocument/completion", vim.lsp.util.make_position_params(), 20000))
  answers.completion = vim.tbl_map(function(item) return item.word end, vim.lsp.util.text_document_completion_list_to_complete_items(items.result, ""))
end

local ok, message = pcall(run)
if not ok then
  answers.error = message
end
vim.fn.writefile({ vim.fn.json_encode(answers) }, vim.env.ANSWERS)
vim.cmd("qall!")
