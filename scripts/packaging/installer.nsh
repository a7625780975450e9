; Included by electron-builder's installer for Windows.

; Its own way of removing, which an upgrade runs too, but for the folder `site`: the service profile that an administrator
; put there, with its pinned keys, outlives an upgrade and a removal.
!macro customRemoveFiles
  ${if} ${FileExists} "$INSTDIR\site\*.*"
    ClearErrors
    Rename "$INSTDIR\site" "$INSTDIR.site"
    ${if} ${Errors}
      Abort `Can't move "$INSTDIR\site".`
    ${endif}
  ${endif}

  ${if} ${isUpdated}
    CreateDirectory "$PLUGINSDIR\old-install"
    Push ""
    Call un.atomicRMDir
    Pop $R0
    ${if} $R0 != 0
      Push ""
      Call un.restoreFiles
      Pop $R0
      Rename "$INSTDIR.site" "$INSTDIR\site"
      Abort `Can't rename "$INSTDIR" to "$PLUGINSDIR\old-install".`
    ${endif}
  ${endif}
  ; Out of the folder, so that it can be removed.
  SetOutPath $TEMP
  RMDir /r $INSTDIR

  ${if} ${FileExists} "$INSTDIR.site\*.*"
    CreateDirectory $INSTDIR
    Rename "$INSTDIR.site" "$INSTDIR\site"
  ${endif}
!macroend

; What the app registered for the person who removes it: links, the activator and the shortcut of its notifications. Of other
; persons of the computer it stays, since their part of the registry can't be reached; `tokendesk --wipe` removes it.
!macro customUnInstall
  ${ifNot} ${isUpdated}
    DeleteRegKey HKCU "Software\Classes\CLSID\{C26983BC-F6CF-438D-8877-241BD4618D51}"
    DeleteRegKey HKCU "Software\Classes\tokendesk"
    SetShellVarContext current
    Delete "$SMPROGRAMS\Tokendesk.lnk"
    ${if} $installMode == "all"
      SetShellVarContext all
    ${endif}
  ${endif}
!macroend
