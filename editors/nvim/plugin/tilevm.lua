-- Starts the language server of tilevm for .tile files, one for each folder.
--
--   set runtimepath+=REPOSITORY/editors/nvim          " in init.vim; Neovim 0.7 and later
--   let g:tilevm_server = ["/path/.venv/bin/tilevm-lsp"]    " if it is not on the PATH
if vim.g.loaded_tilevm then
  return
end
vim.g.loaded_tilevm = 1

local clients = {} -- by folder, where Neovim does not keep them itself

local function start(buffer)
  local folder = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buffer), ":p:h")
  local config = { name = "tilevm", cmd = vim.g.tilevm_server or { "tilevm-lsp" }, root_dir = folder }
  if vim.fn.executable(config.cmd[1]) == 0 then
    vim.notify(config.cmd[1] .. " is not on the PATH: pip install 'tilevm[lsp]'", vim.log.levels.WARN)
  elseif vim.lsp.start then -- Neovim 0.8 and later
    vim.lsp.start(config, { bufnr = buffer })
  else
    clients[folder] = clients[folder] or vim.lsp.start_client(config)
    vim.lsp.buf_attach_client(buffer, clients[folder])
  end
end

vim.api.nvim_create_autocmd("FileType", {
  pattern = "tile",
  callback = function(event)
    vim.bo[event.buf].commentstring = "// %s"
    start(event.buf)
  end,
})
